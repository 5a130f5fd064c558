/** `--kubeconfig-merge`: the entry of this control plane in the user's own kubeconfig, put there and taken away again. */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { isMap, isSeq, parseDocument, type Document, type YAMLMap } from 'yaml';

/** The name of cluster, user and context alike. */
export const CONTEXT = 'quorate';

const LISTS = [
  ['clusters', 'cluster'],
  ['users', 'user'],
  ['contexts', 'context'],
] as const;

/** The file that kubectl would write to: the first of KUBECONFIG that is there, the last if none is. */
export function userKubeconfig(env: NodeJS.ProcessEnv = process.env): string {
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  return listed.find((file) => existsSync(file)) ?? listed.at(-1) ?? join(env['HOME'] ?? homedir(), '.kube', 'config');
}

/** Adds the only cluster and user of `source` to `target` and makes them the current ones. Gives the way back. */
export function mergeKubeconfig(source: string, target: string): () => void {
  const own = parseDocument(readFileSync(source, 'utf8'));
  let before: unknown;
  change(target, (config) => {
    before = config.get('current-context');
    for (const [list, field] of LISTS) {
      const body =
        field === 'context' ? config.createNode({ cluster: CONTEXT, user: CONTEXT }) : own.getIn([list, 0, field]);
      removeNamed(config, list);
      const entry = config.createNode({ name: CONTEXT }) as YAMLMap;
      entry.set(field, body);
      if (!isSeq(config.get(list))) config.set(list, config.createNode([]));
      config.addIn([list], entry);
    }
    config.set('current-context', CONTEXT);
  });
  return () => {
    if (!existsSync(target)) return;
    change(target, (config) => {
      for (const [list] of LISTS) removeNamed(config, list);
      if (config.get('current-context') !== CONTEXT) return;
      config.set('current-context', typeof before === 'string' && before !== CONTEXT ? before : '');
    });
  };
}

function removeNamed(config: Document, list: string): void {
  const entries = config.get(list);
  if (!isSeq(entries)) return;
  entries.items = entries.items.filter((entry) => !(isMap(entry) && entry.get('name') === CONTEXT));
}

/** One writer at a time, by the lock file that kubectl uses too; what is there stays as it is, comments included. */
function change(path: string, edit: (config: Document) => void): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const lock = `${path}.lock`;
  try {
    closeSync(openSync(lock, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Error(`cannot write ${path}: somebody else does (if nobody does any more, remove ${lock})`);
  }
  try {
    const config = parseDocument(existsSync(path) ? readFileSync(path, 'utf8') : '');
    if (config.errors.length > 0) throw new Error(`cannot merge into ${path}: ${config.errors[0]?.message}`);
    if (config.contents === null) config.contents = config.createNode({ apiVersion: 'v1', kind: 'Config' }) as never;
    if (!isMap(config.contents)) throw new Error(`cannot merge into ${path}: it is not a kubeconfig`);
    edit(config);
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, config.toString({ lineWidth: 0 }), { mode: 0o600 });
    renameSync(draft, path);
  } finally {
    rmSync(lock, { force: true });
  }
}

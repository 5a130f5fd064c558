/** Manifests from files, folders and standard input, with the place of every field in them. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isSeq,
  LineCounter,
  type Node,
  parseAllDocuments,
} from 'yaml';
import type { KubeObject } from '../../api/resource.ts';

export interface SourcePosition {
  readonly file: string;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;
}

export interface Manifests {
  readonly objects: readonly KubeObject[];
  readonly files: number;
  /** Where a field of an object stands; the nearest field around it where it is not written out. */
  placeOf(object: KubeObject, path: string): SourcePosition | undefined;
}

/** What is wrong with the input, one line each. */
export class ManifestError extends Error {
  override name = 'ManifestError';
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.lines = lines;
  }
}

interface Origin {
  readonly file: string;
  readonly document: Document;
  readonly root: unknown;
  readonly lines: LineCounter;
}

const EXTENSIONS = new Set(['.yaml', '.yml', '.json']);
/** A bound on what aliases may unfold to, so that a small file cannot ask for endless memory. */
const MAX_ALIASES = 1000;

export function readManifests(
  names: readonly string[],
  { namespace, stdin }: { namespace: string; stdin: () => string },
): Manifests {
  const wrong: string[] = [];
  const origins = new Map<KubeObject, Origin>();
  const objects: KubeObject[] = [];
  const files = names.flatMap((name) => listFiles(name, wrong));
  for (const file of files) {
    let text: string;
    try {
      text = file === '-' ? stdin() : readFileSync(file, 'utf8');
    } catch (error) {
      wrong.push(`${file}: ${reasonOf(error)}`);
      continue;
    }
    const before = { objects: objects.length, wrong: wrong.length };
    const shown = file === '-' ? '<stdin>' : file;
    parseFile(shown, text, namespace, wrong, (object, origin) => {
      objects.push(object);
      origins.set(object, origin);
    });
    const silent = objects.length === before.objects && wrong.length === before.wrong;
    // In a folder other things may stand beside manifests; a file that is named is meant to be one.
    if (silent && names.includes(file))
      wrong.push(`${shown}: no Kubernetes object in it: nothing has apiVersion and kind`);
  }
  if (wrong.length === 0 && objects.length === 0) wrong.push(`${names.join(', ')}: no Kubernetes object in any file`);
  if (wrong.length > 0) throw new ManifestError(wrong);
  return {
    objects,
    files: files.length,
    placeOf(object, path) {
      const origin = origins.get(object);
      return origin && placeIn(origin, path);
    },
  };
}

function listFiles(name: string, wrong: string[]): string[] {
  if (name === '-') return [name];
  try {
    if (!statSync(name).isDirectory()) return [name];
    const found = walk(name);
    if (found.length === 0) wrong.push(`${name}: no .yaml, .yml or .json file in this folder`);
    return found;
  } catch (error) {
    wrong.push(`${name}: ${reasonOf(error)}`);
    return [];
  }
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') return [];
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return walk(path);
      return entry.isFile() && EXTENSIONS.has(extname(entry.name)) ? [path] : [];
    });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'no permission to read it',
  EISDIR: 'it is a folder',
};

function reasonOf(error: unknown): string {
  const { code = '', message = String(error) } = error as { code?: string; message?: string };
  return REASONS[code] ?? message;
}

function parseFile(
  file: string,
  text: string,
  namespace: string,
  wrong: string[],
  add: (object: KubeObject, origin: Origin) => void,
): void {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  for (const document of Array.isArray(documents) ? documents : []) {
    const [error] = document.errors;
    if (error !== undefined) {
      const { col, line } = lines.linePos(error.pos[0]);
      wrong.push(`${file}:${line}:${col}: ${describe(error.message, text)}`);
      // What follows a broken document is read by guessing.
      return;
    }
    let value: unknown;
    try {
      value = document.toJS({ maxAliasCount: MAX_ALIASES });
    } catch (thrown) {
      wrong.push(`${file}: ${reasonOf(thrown)}`);
      return;
    }
    collect(value, document.contents, (object, root) => add(object, { file, document, root, lines }), namespace);
  }
}

function describe(message: string, text: string): string {
  const plain = message.replaceAll(/\s+/g, ' ').trim();
  return /\{\{.*\}\}/.test(text) ? `${plain} (it looks like a template; render it first)` : plain;
}

/** Objects of the API are taken, Lists unfolded; documents that are something else are passed over. */
function collect(
  value: unknown,
  node: unknown,
  add: (object: KubeObject, root: unknown) => void,
  namespace: string,
): void {
  if (typeof value !== 'object' || value === null) return;
  const { items, kind, metadata } = value as { kind?: unknown; items?: unknown; metadata?: unknown };
  if (typeof kind !== 'string') return;
  if (kind.endsWith('List') && Array.isArray(items)) {
    const nodes = isMap(node) ? node.get('items', true) : undefined;
    for (const [at, item] of items.entries()) collect(item, isSeq(nodes) ? nodes.items[at] : undefined, add, namespace);
    return;
  }
  const given = typeof metadata === 'object' && metadata !== null ? (metadata as KubeObject['metadata']) : {};
  add({ ...value, metadata: { ...given, namespace: given.namespace ?? namespace } } as KubeObject, node);
}

/** Follows the path as far as the file spells it out, and answers where that is. */
function placeIn({ document, file, lines, root }: Origin, path: string): SourcePosition {
  let node: unknown = root;
  let offset = rangeOf(node);
  for (const step of stepsOf(path)) {
    if (isAlias(node)) node = node.resolve(document);
    if (!isCollection(node)) break;
    const pair = isMap(node) ? node.items.find((item) => isPair(item) && keyText(item.key) === step) : undefined;
    const next: unknown = pair === undefined ? (isSeq(node) ? node.items[Number(step)] : undefined) : pair.value;
    if (next === undefined) break;
    offset = (pair === undefined ? rangeOf(next) : rangeOf(pair.key)) ?? offset;
    node = next;
  }
  const { col, line } = lines.linePos(offset ?? 0);
  return { file, line, column: col };
}

const rangeOf = (node: unknown): number | undefined => (node as Node | undefined)?.range?.[0];
const keyText = (key: unknown): string => String((key as { value?: unknown } | undefined)?.value ?? key);

/** `spec.ports[0].name` and `metadata.annotations[a.b/c]` as single steps. */
export function stepsOf(path: string): string[] {
  return [...path.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)].map(([, key, name]) => key ?? name ?? '');
}

import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';

/** How to reach one API server and who to be there. Certificates are PEM text. */
export interface ServerAccess {
  readonly server: string;
  readonly ca?: string | undefined;
  readonly skipVerify?: boolean | undefined;
  readonly serverName?: string | undefined;
  readonly clientCert?: string | undefined;
  readonly clientKey?: string | undefined;
  /** Asked for before each request, so that a token may be renewed. */
  readonly token?: (() => Promise<string | undefined>) | undefined;
  /** Namespace of the context; `default` when it names none. */
  readonly namespace: string;
}

/** The configuration names a server or a user that cannot be used; the message says which and where. */
export class KubeconfigError extends Error {
  override name = 'KubeconfigError';
}

export interface KubeconfigOptions {
  /** Path of a kubeconfig; KUBECONFIG, then the usual place in the home folder, when absent. */
  readonly path?: string | undefined;
  readonly context?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

interface ExecPlugin {
  readonly command: string;
  readonly args?: string[];
  readonly env?: { name: string; value: string }[] | null;
  readonly apiVersion?: string;
}

interface Entry {
  readonly name?: string;
  /** File the entry was read from; paths in it are relative to that. */
  readonly from: string;
  readonly body: Record<string, unknown>;
}

interface Merged {
  currentContext: string | undefined;
  readonly contexts: Entry[];
  readonly clusters: Entry[];
  readonly users: Entry[];
}

/** Reads who and where from a kubeconfig. Throws KubeconfigError with one clear line. */
export function loadKubeconfig({ path, context, env = process.env }: KubeconfigOptions = {}): ServerAccess {
  const files = configFiles(path, env);
  if (files.length === 0) {
    if (path === undefined && isInCluster(env)) return loadInCluster(env);
    throw new KubeconfigError(
      path === undefined
        ? 'Cannot find a kubeconfig: set KUBECONFIG or pass --kubeconfig FILE'
        : `Cannot read kubeconfig ${path}: no such file`,
    );
  }
  const merged = mergeFiles(files);
  const name = context ?? merged.currentContext;
  if (name === undefined || name === '') {
    throw new KubeconfigError(`Cannot use kubeconfig ${files.join(delimiter)}: it sets no current-context`);
  }
  const chosen = find(merged.contexts, 'context', name);
  const cluster = find(merged.clusters, 'cluster', text(chosen.body['cluster']) ?? '');
  const userName = text(chosen.body['user']);
  const user = userName ? find(merged.users, 'user', userName) : undefined;
  const server = text(cluster.body['server']);
  if (!server) throw new KubeconfigError(`Cannot use cluster "${cluster.name}" of ${cluster.from}: it names no server`);
  return {
    server: server.replace(/\/+$/, ''),
    ca: pem(cluster, 'certificate-authority'),
    skipVerify: cluster.body['insecure-skip-tls-verify'] === true,
    serverName: text(cluster.body['tls-server-name']),
    clientCert: user && pem(user, 'client-certificate'),
    clientKey: user && pem(user, 'client-key'),
    token: user && tokenOf(user),
    namespace: text(chosen.body['namespace']) ?? 'default',
  };
}

function configFiles(path: string | undefined, env: NodeJS.ProcessEnv): string[] {
  if (path !== undefined) return existsSync(path) ? [path] : [];
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  if (listed.length > 0) {
    const found = listed.filter((file) => existsSync(file));
    if (found.length === 0) throw new KubeconfigError(`Cannot read kubeconfig ${listed.join(delimiter)}: no such file`);
    return found;
  }
  const usual = join(env['HOME'] ?? homedir(), '.kube', 'config');
  return existsSync(usual) ? [usual] : [];
}

/** The first file to name a thing wins, as in kubectl. */
function mergeFiles(files: readonly string[]): Merged {
  const merged: Merged = { currentContext: undefined, contexts: [], clusters: [], users: [] };
  for (const from of files) {
    const config = readConfig(from);
    merged.currentContext ??= text(config['current-context']) || undefined;
    for (const [list, key, field] of [
      [merged.contexts, 'contexts', 'context'],
      [merged.clusters, 'clusters', 'cluster'],
      [merged.users, 'users', 'user'],
    ] as const) {
      for (const item of (config[key] ?? []) as Record<string, unknown>[]) {
        list.push({ name: text(item['name']) ?? '', from, body: (item[field] ?? {}) as Record<string, unknown> });
      }
    }
  }
  return merged;
}

function readConfig(path: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new KubeconfigError(
      `Cannot read kubeconfig ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
  if (typeof parsed !== 'object' || parsed === null) {
    throw new KubeconfigError(`Cannot read kubeconfig ${path}: it is not a configuration`);
  }
  return parsed as Record<string, unknown>;
}

function find(entries: readonly Entry[], what: string, name: string): Entry {
  const found = entries.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  const known = entries.map((entry) => `"${entry.name}"`).join(', ') || 'none';
  throw new KubeconfigError(`Cannot find ${what} "${name}" in the kubeconfig; it has ${known}`);
}

function pem({ body, from }: Entry, field: string): string | undefined {
  const data = text(body[`${field}-data`]);
  if (data) return Buffer.from(data, 'base64').toString('utf8');
  const file = text(body[field]);
  return file ? readText(isAbsolute(file) ? file : join(dirname(from), file)) : undefined;
}

function tokenOf(user: Entry): ServerAccess['token'] {
  const token = text(user.body['token']);
  if (token) return () => Promise.resolve(token);
  const file = text(user.body['tokenFile']);
  if (file) return () => Promise.resolve(readText(file).trim());
  const plugin = user.body['exec'] as ExecPlugin | undefined;
  return plugin?.command ? execToken(plugin) : undefined;
}

/** Asks a credential plugin, and again once what it gave has run out. */
function execToken({
  apiVersion = 'client.authentication.k8s.io/v1',
  args = [],
  command,
  env,
}: ExecPlugin): () => Promise<string | undefined> {
  let known: { token: string | undefined; expiresMs: number } | undefined;
  return async () => {
    if (known !== undefined && Date.now() < known.expiresMs - 30_000) return known.token;
    const request = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } });
    const extra = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    try {
      const { stdout } = await promisify(execFile)(command, args, {
        env: { ...process.env, ...extra, KUBERNETES_EXEC_INFO: request },
      });
      const { status } = JSON.parse(stdout) as { status?: { token?: string; expirationTimestamp?: string } };
      const expiresMs = status?.expirationTimestamp ? Date.parse(status.expirationTimestamp) : Number.POSITIVE_INFINITY;
      known = { token: status?.token, expiresMs };
      return known.token;
    } catch (cause) {
      throw new KubeconfigError(
        `Cannot get credentials from "${command}": ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      );
    }
  };
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

function isInCluster(env: NodeJS.ProcessEnv): boolean {
  return env['KUBERNETES_SERVICE_HOST'] !== undefined && existsSync(join(SERVICE_ACCOUNT, 'token'));
}

/** The access every pod has; the kubelet renews the token in place. */
function loadInCluster(env: NodeJS.ProcessEnv): ServerAccess {
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${env['KUBERNETES_SERVICE_PORT'] ?? '443'}`,
    ca: readText(join(SERVICE_ACCOUNT, 'ca.crt')),
    token: () => Promise.resolve(readText(join(SERVICE_ACCOUNT, 'token')).trim()),
    namespace: readText(join(SERVICE_ACCOUNT, 'namespace')).trim(),
  };
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new KubeconfigError(`Cannot read ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

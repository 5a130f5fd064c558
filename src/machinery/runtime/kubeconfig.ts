import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { parse } from 'yaml';
import { isObject } from '../values/index.ts';
import { type KubeconfigEntry, KubeconfigError, pem, readText, text } from './kubeconfig-entry.ts';
import { type UserCredentials, identityOf } from './kubeconfig-user.ts';
import { proxyFor } from './proxy.ts';

export { KubeconfigError } from './kubeconfig-entry.ts';

/** How to reach one API server and who to be there. Certificates are PEM text. */
export interface ServerAccess extends UserCredentials {
  readonly server: string;
  readonly ca?: string | undefined;
  readonly skipVerify?: boolean | undefined;
  readonly serverName?: string | undefined;
  /** The proxy between; absent where there is none. */
  readonly proxy?: URL | undefined;
  /** Namespace of the context; `default` when it names none. */
  readonly namespace: string;
}

export interface KubeconfigOptions {
  /** Path of a kubeconfig; KUBECONFIG, then the usual place in the home folder, when absent. */
  readonly path?: string | undefined;
  readonly context?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

interface Merged {
  currentContext: string | undefined;
  readonly contexts: KubeconfigEntry[];
  readonly clusters: KubeconfigEntry[];
  readonly users: KubeconfigEntry[];
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
  if (!URL.canParse(server)) {
    throw new KubeconfigError(
      `Cannot use cluster "${cluster.name}" of ${cluster.from}: server "${server}" is not a URL`,
    );
  }
  const reached = {
    server: server.replace(/\/+$/, ''),
    ca: pem(cluster, 'certificate-authority'),
    skipVerify: cluster.body['insecure-skip-tls-verify'] === true,
    serverName: text(cluster.body['tls-server-name']),
  };
  if (reached.skipVerify && reached.ca !== undefined) {
    throw new KubeconfigError(
      `Cannot use cluster "${cluster.name}" of ${cluster.from}: it has both insecure-skip-tls-verify and a certificate-authority; remove one`,
    );
  }
  return {
    ...reached,
    ...(user && identityOf(user, { ...reached, config: execConfig(cluster) })),
    proxy: proxyFor(reached.server, text(cluster.body['proxy-url']), env),
    namespace: text(chosen.body['namespace']) ?? 'default',
  };
}

/** The contexts there are to choose from. */
export function contextNames({ path, env = process.env }: Pick<KubeconfigOptions, 'path' | 'env'> = {}): string[] {
  return mergeFiles(configFiles(path, env)).contexts.map(({ name }) => name ?? '');
}

/** What a cluster has to say to credential plugins. */
function execConfig({ body }: KubeconfigEntry): unknown {
  const extensions = Array.isArray(body['extensions']) ? body['extensions'].filter(isObject) : [];
  return extensions.find(({ name }) => name === 'client.authentication.k8s.io/exec')?.['extension'];
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

function mapOf(value: unknown, from: string, path: string): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new KubeconfigError(`Cannot read kubeconfig ${from}: ${path} is not a map`);
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
      const items = config[key] ?? [];
      if (!Array.isArray(items)) throw new KubeconfigError(`Cannot read kubeconfig ${from}: ${key} is not a list`);
      for (const [at, item] of (items as unknown[]).entries()) {
        const entry = mapOf(item, from, `${key}[${at}]`);
        const body = mapOf(entry[field] ?? {}, from, `${key}[${at}].${field}`);
        list.push({ name: text(entry['name']) ?? '', from, body });
      }
    }
  }
  return merged;
}

function readConfig(path: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    // What is only odd is nobody's business.
    parsed = parse(readFileSync(path, 'utf8'), { logLevel: 'error' });
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

function find(entries: readonly KubeconfigEntry[], what: string, name: string): KubeconfigEntry {
  const found = entries.find((entry) => entry.name === name);
  if (found !== undefined) return found;
  const known = entries.map((entry) => `"${entry.name}"`).join(', ') || 'none';
  throw new KubeconfigError(`Cannot find ${what} "${name}" in the kubeconfig; it has ${known}`);
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

function isInCluster(env: NodeJS.ProcessEnv): boolean {
  return env['KUBERNETES_SERVICE_HOST'] !== undefined && existsSync(join(SERVICE_ACCOUNT, 'token'));
}

/** The access every pod has; the kubelet renews the token in place. */
function loadInCluster(env: NodeJS.ProcessEnv): ServerAccess {
  const host = env['KUBERNETES_SERVICE_HOST'] ?? '';
  const server = `https://${host.includes(':') ? `[${host}]` : host}:${env['KUBERNETES_SERVICE_PORT'] ?? '443'}`;
  return {
    server,
    proxy: proxyFor(server, undefined, env),
    ca: readText(join(SERVICE_ACCOUNT, 'ca.crt')),
    token: () => Promise.resolve(readText(join(SERVICE_ACCOUNT, 'token')).trim()),
    namespace: readText(join(SERVICE_ACCOUNT, 'namespace')).trim(),
  };
}

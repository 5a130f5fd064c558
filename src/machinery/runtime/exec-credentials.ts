/** Credentials from a program that the kubeconfig names, as `client.authentication.k8s.io` defines. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { besides, type KubeconfigEntry, KubeconfigError, text, texts } from './kubeconfig-entry.ts';

export interface Credentials {
  readonly token?: string | undefined;
  readonly clientCert?: string | undefined;
  readonly clientKey?: string | undefined;
}

export interface ExecCredentials {
  /** What the program gave, asked again once that has run out. */
  get(): Promise<Credentials>;
  /** The API server does not take them: ask anew next time. */
  forget(): void;
}

/** About the cluster, for a program that wants to know. */
export interface ExecCluster {
  readonly server: string;
  readonly ca?: string | undefined;
  readonly serverName?: string | undefined;
  readonly skipVerify?: boolean | undefined;
  readonly config?: unknown;
}

const GROUP = 'client.authentication.k8s.io';
const VERSIONS = [`${GROUP}/v1`, `${GROUP}/v1beta1`];
/** Asked again a little before the end: a request takes a moment too. */
const EARLY_MS = 30_000;
const LIMIT_MS = 60_000;

/** Throws KubeconfigError at once for a plugin that cannot be used. */
export function execCredentials(user: KubeconfigEntry, cluster: ExecCluster): ExecCredentials {
  const plugin = user.body['exec'] as Record<string, unknown>;
  const command = text(plugin['command']) ?? '';
  const apiVersion = text(plugin['apiVersion']) ?? '';
  const where = `user "${user.name}" of ${user.from}`;
  if (command === '') throw new KubeconfigError(`Cannot use ${where}: exec names no command`);
  if (!VERSIONS.includes(apiVersion)) {
    throw new KubeconfigError(
      `Cannot use ${where}: exec has apiVersion "${apiVersion}", and ${VERSIONS.join(' and ')} are understood; upgrade the plugin`,
    );
  }
  if (plugin['interactiveMode'] === 'Always') {
    throw new KubeconfigError(
      `Cannot use ${where}: exec has interactiveMode "Always", and nobody is asked here; log in with "${command}" and use IfAvailable`,
    );
  }
  const options = { apiVersion, command: locate(user, command), plugin, cluster };
  let known: { credentials: Credentials; untilMs: number } | undefined;
  let asking: Promise<Credentials> | undefined;
  return {
    get() {
      if (known !== undefined && Date.now() < known.untilMs - EARLY_MS) return Promise.resolve(known.credentials);
      asking ??= ask(options)
        .then((answer) => {
          known = answer;
          return answer.credentials;
        })
        .finally(() => (asking = undefined));
      return asking;
    },
    forget: () => (known = undefined),
  };
}

/** A command with a slash is a file, found from where the kubeconfig is; any other is looked up in PATH. */
function locate(user: KubeconfigEntry, command: string): string {
  return command.includes('/') ? besides(user, command) : command;
}

interface Asked {
  readonly command: string;
  readonly apiVersion: string;
  readonly plugin: Record<string, unknown>;
  readonly cluster: ExecCluster;
}

async function ask({ apiVersion, cluster, command, plugin }: Asked): Promise<{
  credentials: Credentials;
  untilMs: number;
}> {
  const spec = {
    interactive: false,
    ...(plugin['provideClusterInfo'] === true ? { cluster: describe(cluster) } : {}),
  };
  const given = (Array.isArray(plugin['env']) ? plugin['env'] : []) as { name?: string; value?: string }[];
  const env = {
    ...process.env,
    ...Object.fromEntries(given.map(({ name = '', value = '' }) => [name, value])),
    KUBERNETES_EXEC_INFO: JSON.stringify({ apiVersion, kind: 'ExecCredential', spec }),
  };
  try {
    const run = promisify(execFile);
    const { stdout } = await run(command, texts(plugin['args']), { env, timeout: LIMIT_MS, maxBuffer: 1_048_576 });
    return read(stdout, apiVersion);
  } catch (cause) {
    const { code, message, stderr = '' } = cause as { code?: unknown; message: string; stderr?: string };
    const hint = code === 'ENOENT' ? text(plugin['installHint']) : undefined;
    const why = code === 'ENOENT' ? 'no such program' : stderr.trim().slice(0, 500) || message;
    throw new KubeconfigError(`Cannot get credentials from "${command}": ${why}${hint ? `\n${hint}` : ''}`, { cause });
  }
}

function describe({ ca, config, server, serverName, skipVerify }: ExecCluster): object {
  return {
    server,
    ...(serverName === undefined ? {} : { 'tls-server-name': serverName }),
    ...(skipVerify === true ? { 'insecure-skip-tls-verify': true } : {}),
    ...(ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(config === undefined ? {} : { config }),
  };
}

function read(stdout: string, apiVersion: string): { credentials: Credentials; untilMs: number } {
  const answer = JSON.parse(stdout) as {
    kind?: string;
    apiVersion?: string;
    status?: {
      token?: string;
      clientCertificateData?: string;
      clientKeyData?: string;
      expirationTimestamp?: string;
    };
  };
  if (answer.kind !== 'ExecCredential' || answer.apiVersion !== apiVersion) {
    throw new Error(`it answered with ${answer.apiVersion} ${answer.kind} instead of ${apiVersion} ExecCredential`);
  }
  const {
    clientCertificateData: clientCert,
    clientKeyData: clientKey,
    expirationTimestamp,
    token,
  } = answer.status ?? {};
  if (!token && !clientCert) throw new Error('it gave neither a token nor a certificate');
  if ((clientCert === undefined) !== (clientKey === undefined)) {
    throw new Error('it gave one of certificate and key without the other');
  }
  const untilMs = expirationTimestamp ? Date.parse(expirationTimestamp) : Number.POSITIVE_INFINITY;
  return { credentials: { token, clientCert, clientKey }, untilMs };
}

import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Binary, type Minor, requireBinaries } from './binaries.ts';

export interface RealControlPlaneOptions {
  readonly minor?: Minor;
  /** Which components run besides etcd and kube-apiserver. Default: controller manager and scheduler. */
  readonly components?: readonly ('kube-controller-manager' | 'kube-scheduler')[];
  readonly featureGates?: string;
  readonly runtimeConfig?: string;
  /** Extra flags by component. */
  readonly flags?: Partial<Record<Binary, readonly string[]>>;
}

export interface RealControlPlane {
  /** Path of an admin kubeconfig. */
  readonly kubeconfig: string;
  readonly server: string;
  /** Where etcd answers, without TLS. */
  readonly etcd: string;
  readonly token: string;
  /** A token of `system:kube-controller-manager`, who may do nothing by it until somebody lets it. */
  readonly managerToken: string;
  readonly caFile: string;
  /** The folder of the binaries in use, kubectl among them. */
  readonly binaries: string;
  readonly folder: string;
  /** Ends one component at once, as a crash would. */
  kill(name: Binary): Promise<void>;
  /** Starts a component that was killed, on the same data and ports; more flags are for this life only. */
  restart(name: Binary, flags?: readonly string[]): Promise<void>;
  /** Ends all but etcd and starts those of another minor on the same data, as the upgrade of a cluster does. */
  upgrade(to: Pick<RealControlPlaneOptions, 'featureGates' | 'minor' | 'runtimeConfig'>): Promise<void>;
  /** Holds every process until `resume`. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

const TOKEN = 'quorate-test-admin';
const MANAGER_TOKEN = 'quorate-test-manager';
const READY_TIMEOUT_MS = 180_000;
const START_ATTEMPTS = 3;

/** Runs etcd, kube-apiserver and friends on loopback in a temporary folder. They end with `stop` or with this process. */
export async function startRealControlPlane(options: RealControlPlaneOptions = {}): Promise<RealControlPlane> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(options);
    } catch (error) {
      // Somebody else may take a port between the look and the start.
      if (!(error instanceof PortTakenError) || attempt === START_ATTEMPTS) throw error;
    }
  }
}

class PortTakenError extends Error {
  override name = 'PortTakenError';
}

async function start(options: RealControlPlaneOptions): Promise<RealControlPlane> {
  const { minor = '1.36', components = ['kube-controller-manager', 'kube-scheduler'] } = options;
  const names: Binary[] = ['etcd', 'kube-apiserver', 'kubectl', ...components];
  const binaries = requireBinaries(minor, names);
  const folder = mkdtempSync(join(tmpdir(), 'quorate-kubernetes-'));
  const ports = await freePorts(5);
  const [etcdPort, , apiPort] = ports;
  const server = `https://127.0.0.1:${apiPort}`;
  const caFile = join(folder, 'certs', 'apiserver.crt');
  const kubeconfig = join(folder, 'kubeconfig');
  const accountKey = join(folder, 'service-account.key');
  writeServiceAccountKey(accountKey);
  const tokens = [`${TOKEN},admin,admin,system:masters`, `${MANAGER_TOKEN},system:kube-controller-manager,manager`];
  writeFileSync(join(folder, 'tokens.csv'), `${tokens.join('\n')}\n`, { mode: 0o600 });

  const layout = { accountKey, caFile, folder, kubeconfig, ports };
  const processes = new Map<string, ChildProcess>();
  /** What runs now; an upgrade changes it. */
  let now = { binaries, commandLines: commandLinesOf(options, layout) };
  const launch = (name: Binary, more: readonly string[] = []): void => {
    const args = [...(now.commandLines[name] ?? []), ...(options.flags?.[name] ?? []), ...more];
    processes.set(name, launchLogged(join(now.binaries, name), args, join(folder, `${name}.log`)));
  };
  const end = (name: string, signal: NodeJS.Signals): Promise<void> => endProcess(processes.get(name), signal);
  const endWithParent = (): void => {
    for (const child of processes.values()) child.kill('SIGKILL');
  };
  process.once('exit', endWithParent);

  const plane: RealControlPlane = {
    kubeconfig,
    server,
    etcd: `http://127.0.0.1:${etcdPort}`,
    token: TOKEN,
    managerToken: MANAGER_TOKEN,
    caFile,
    binaries,
    folder,
    kill: (name) => end(name, 'SIGKILL'),
    async restart(name, flags) {
      launch(name, flags);
      if (name === 'kube-apiserver') await waitReady(server, folder);
    },
    async upgrade({ minor: next = minor, ...serving }) {
      const names = [...components.toReversed(), 'kube-apiserver' as const];
      // Asked to end, the API server would wait a minute for the watches of its clients.
      for (const name of names) await end(name, 'SIGKILL');
      const commandLines = commandLinesOf({ ...options, ...serving }, layout);
      now = { binaries: requireBinaries(next, names), commandLines };
      launch('kube-apiserver');
      await waitReady(server, folder);
      for (const name of components) launch(name);
    },
    pause: () => processes.forEach((child) => child.kill('SIGSTOP')),
    resume: () => processes.forEach((child) => child.kill('SIGCONT')),
    async stop() {
      for (const name of ['kube-scheduler', 'kube-controller-manager', 'kube-apiserver', 'etcd'])
        await end(name, 'SIGTERM');
      process.removeListener('exit', endWithParent);
      rmSync(folder, { recursive: true, force: true });
    },
  };

  try {
    launch('etcd');
    launch('kube-apiserver');
    await waitReady(server, folder);
    writeKubeconfig({ kubeconfig, server, caFile });
    for (const name of components) launch(name);
    return plane;
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

function launchLogged(program: string, args: readonly string[], path: string): ChildProcess {
  const log = createWriteStream(path, { flags: 'a' });
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  return child;
}

async function endProcess(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await exited;
}

interface Layout {
  readonly accountKey: string;
  readonly caFile: string;
  readonly folder: string;
  readonly kubeconfig: string;
  readonly ports: readonly number[];
}

function commandLinesOf(options: RealControlPlaneOptions, layout: Layout): Record<string, string[]> {
  const { accountKey, caFile, folder, kubeconfig, ports } = layout;
  const [etcdPort, peerPort, apiPort, managerPort, schedulerPort] = ports;
  const gates = options.featureGates === undefined ? [] : [`--feature-gates=${options.featureGates}`];
  return {
    etcd: [
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=http://127.0.0.1:${etcdPort}`,
      `--advertise-client-urls=http://127.0.0.1:${etcdPort}`,
      `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
      '--log-level=warn',
    ],
    'kube-apiserver': [
      `--etcd-servers=http://127.0.0.1:${etcdPort}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${apiPort}`,
      `--cert-dir=${join(folder, 'certs')}`,
      `--token-auth-file=${join(folder, 'tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${accountKey}`,
      `--service-account-signing-key-file=${accountKey}`,
      '--allow-privileged=true',
      '--endpoint-reconciler-type=none',
      ...(options.runtimeConfig === undefined ? [] : [`--runtime-config=${options.runtimeConfig}`]),
      ...gates,
    ],
    'kube-controller-manager': [
      `--kubeconfig=${kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${managerPort}`,
      `--service-account-private-key-file=${accountKey}`,
      `--root-ca-file=${caFile}`,
      '--use-service-account-credentials=true',
      '--leader-elect=false',
      ...gates,
    ],
    'kube-scheduler': [
      `--kubeconfig=${kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${schedulerPort}`,
      '--leader-elect=false',
      ...gates,
    ],
  };
}

async function waitReady(server: string, folder: string): Promise<void> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  const logs = (): string => (['etcd', 'kube-apiserver'] as const).map((name) => lastLines(folder, name)).join('\n');
  while (Date.now() < deadline) {
    if (await isReady(server)) return;
    if (/address already in use/.test(logs())) throw new PortTakenError(logs());
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`kube-apiserver was not ready after ${READY_TIMEOUT_MS / 1000} s; the last lines:\n${logs()}`);
}

function lastLines(folder: string, name: Binary): string {
  const path = join(folder, `${name}.log`);
  if (!existsSync(path)) return '';
  return readFileSync(path, 'utf8').split('\n').slice(-15).join('\n');
}

function isReady(server: string): Promise<boolean> {
  return new Promise((resolve) => {
    const call = request(
      `${server}/readyz`,
      { rejectUnauthorized: false, headers: { authorization: `Bearer ${TOKEN}` } },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    call.on('error', () => resolve(false));
    call.end();
  });
}

function writeKubeconfig({ kubeconfig, server, caFile }: { kubeconfig: string; server: string; caFile: string }): void {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'admin' } }],
    clusters: [
      { name: 'test', cluster: { server, 'certificate-authority-data': readFileSync(caFile).toString('base64') } },
    ],
    users: [{ name: 'admin', user: { token: TOKEN } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
}

function writeServiceAccountKey(path: string): void {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(path, privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
}

/** Below those that the system hands out by itself, to connections that come and go. */
const LOWEST_PORT = 12_000;
const HIGHEST_PORT = 32_000;

/** Ports that were free a moment ago; all are held at once so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const held: Server[] = [];
  while (held.length < count) {
    const port = LOWEST_PORT + Math.floor(Math.random() * (HIGHEST_PORT - LOWEST_PORT));
    const server = await hold(port);
    if (server !== undefined) held.push(server);
  }
  const ports = held.map((server) => (server.address() as { port: number }).port);
  await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

/** Undefined when somebody has it. */
function hold(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

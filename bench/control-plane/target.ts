import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { findBinaries } from '../../test/kubernetes/binaries.ts';
import { startRealControlPlane } from '../../test/kubernetes/control-plane.ts';

/** A running API server under load, in a process of its own. */
export interface Target {
  readonly name: 'quorate' | 'kubernetes';
  readonly server: string;
  readonly tls: { readonly ca: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
  readonly headers: Readonly<Record<string, string>>;
  /** Holds it until `resume`, so that it does not disturb what is measured meanwhile. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

export interface QuorateTarget extends Target {
  readonly pid: number;
  /** From the start of the process until it said it was ready. */
  readonly startMs: number;
}

interface Kubeconfig {
  readonly clusters: readonly [
    { readonly cluster: { readonly server: string; readonly 'certificate-authority-data': string } },
  ];
  readonly users: readonly [
    { readonly user: { readonly 'client-certificate-data': string; readonly 'client-key-data': string } },
  ];
}

/** The whole of `quorate up`, or its API server alone: what etcd and kube-apiserver are compared with. */
export async function startQuorate(folder: string, { apiOnly = false } = {}): Promise<QuorateTarget> {
  const main = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'main.js');
  if (!existsSync(main)) throw new Error('Cannot start quorate up: dist/ is missing; run npm run build first');
  const kubeconfig = join(folder, 'kubeconfig');
  const started = performance.now();
  const args = [
    main,
    'up',
    ...(apiOnly ? ['--api-only'] : []),
    '--port',
    '0',
    '--nodes',
    '0',
    '--data-dir',
    join(folder, 'data'),
    '--kubeconfig',
    kubeconfig,
  ];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  await untilReady(child);
  const startMs = performance.now() - started;
  const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
  const bytes = (text: string) => Buffer.from(text, 'base64');
  const { user } = users[0];
  return {
    name: 'quorate',
    server: clusters[0].cluster.server,
    tls: {
      ca: bytes(clusters[0].cluster['certificate-authority-data']),
      cert: bytes(user['client-certificate-data']),
      key: bytes(user['client-key-data']),
    },
    headers: {},
    pid: child.pid ?? 0,
    startMs,
    pause: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    async stop() {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function untilReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let seen = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      seen += chunk.toString('utf8');
      if (seen.includes('KUBECONFIG=')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`quorate up ended with code ${code} before it was ready:\n${seen}`)));
  });
}

/** etcd and kube-apiserver alone, as the load needs no more; undefined where the binaries are not built. */
export async function startKubernetes(): Promise<Target | undefined> {
  if (findBinaries('1.36', ['etcd', 'kube-apiserver', 'kubectl']) === undefined) return undefined;
  const plane = await startRealControlPlane({
    components: [],
    // Nobody makes service accounts here; pods shall not wait for one.
    flags: { 'kube-apiserver': ['--disable-admission-plugins=ServiceAccount'] },
  });
  return {
    name: 'kubernetes',
    server: plane.server,
    tls: { ca: readFileSync(plane.caFile) },
    headers: { authorization: `Bearer ${plane.token}` },
    pause: () => plane.pause(),
    resume: () => plane.resume(),
    stop: () => plane.stop(),
  };
}

export function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-bench-'));
  return work(folder).finally(() => rmSync(folder, { recursive: true, force: true }));
}

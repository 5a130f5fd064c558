/** The two control planes of the race, each with its own scheduler and its data on disk. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startRealControlPlane } from '../../test/kubernetes/control-plane.ts';
import { cpuSecondsOf } from '../processor-time.ts';

export interface Host {
  readonly name: string;
  readonly kubeconfig: string;
  /** Processor time its processes have used so far. */
  cpuSeconds(): number;
  stop(): Promise<void>;
}

const built = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const source = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
/** What users run, if it has been built. */
export const command = existsSync(built) ? [built] : ['--import', 'tsx', source];
export async function startEmbeddedHost(): Promise<Host> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-bench-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const args = ['up', '--data-dir', join(folder, 'data'), '--port', '0', '--nodes', '0', '--kubeconfig', kubeconfig];
  const server = spawn(process.execPath, [...command, ...args, '--log-level', 'error'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await new Promise((resolve) => server.stdout.once('data', resolve));
  const pid = server.pid ?? 0;
  return {
    name: 'quorate',
    kubeconfig,
    cpuSeconds: () => cpuSecondsOf([pid]),
    async stop() {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function startKubernetesHost(): Promise<Host> {
  const plane = await startRealControlPlane({
    minor: '1.36',
    components: ['kube-scheduler'],
    featureGates: 'GenericWorkload=true,GangScheduling=true',
    runtimeConfig: 'scheduling.k8s.io/v1alpha2=true',
    flags: {
      'kube-apiserver': [
        '--disable-admission-plugins=ServiceAccount,TaintNodesByCondition',
        // Its limits must not decide the race.
        '--max-requests-inflight=4000',
        '--max-mutating-requests-inflight=2000',
      ],
      'kube-scheduler': ['--kube-api-qps=10000', '--kube-api-burst=10000'],
    },
  });
  const pids = readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .filter((entry) => {
      try {
        return readFileSync(`/proc/${entry}/cmdline`, 'utf8').includes(plane.folder);
      } catch {
        return false;
      }
    })
    .map(Number);
  return {
    name: 'kubernetes',
    kubeconfig: plane.kubeconfig,
    cpuSeconds: () => cpuSecondsOf(pids),
    stop: () => plane.stop(),
  };
}

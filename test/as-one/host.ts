/** Where gangs are drained: the embedded host, or the real binaries with a replica of the operator. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startNodes } from '../../src/app/index.ts';
import {
  type Client,
  createClient,
  createHttpTransport,
  loadKubeconfig,
  silentLogger,
} from '../../src/machinery/runtime/index.ts';
import type { SchedulingVersion } from '../../src/api/scheduling/index.ts';
import { findKubectl } from '../clients/kubectl.ts';
import { startHost } from '../clients/host.ts';
import * as stage from '../cluster/stage.ts';

export interface DrainHost {
  readonly client: Client;
  readonly version: SchedulingVersion;
  /** What one request changes has revisions one after the other, with nobody else's between them. */
  readonly inTransactions: boolean;
  kubectl(...args: string[]): Promise<{ code: number; output: string }>;
  stop(): Promise<void>;
}

/** Never blocks: the server that kubectl asks may be in this very process. */
const runner =
  (program: string, kubeconfig: string, cache: string): DrainHost['kubectl'] =>
  (...args) =>
    new Promise((resolve) => {
      const own = ['--kubeconfig', kubeconfig, '--cache-dir', cache];
      execFile(program, [...own, ...args], { maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: `${stdout}${stderr}` });
      });
    });

function clientOf(kubeconfig: string): { client: Client; close: () => void } {
  const transport = createHttpTransport(loadKubeconfig({ path: kubeconfig }));
  return { client: createClient({ transport: transport.send, userAgent: 'as-one' }), close: () => transport.close() };
}

export async function startEmbeddedDrains(nodes: number): Promise<DrainHost> {
  const host = await startHost({ nodes });
  const cache = mkdtempSync(join(tmpdir(), 'quorate-as-one-'));
  const { client, close } = clientOf(host.kubeconfig);
  return {
    client,
    version: 'v1beta1',
    inTransactions: true,
    kubectl: runner(findKubectl(), host.kubeconfig, cache),
    async stop() {
      close();
      await host.stop();
      rmSync(cache, { recursive: true, force: true });
    },
  };
}

export async function startClusterDrains(count: number): Promise<DrainHost> {
  const plane = await stage.startPlane();
  const nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count } });
  await stage.prepareCluster(plane);
  const operator = await stage.startReplica(plane, 'only', 'adopt');
  await stage.registerWebhooks(plane, operator, 'native', 'adopt');
  const { client, close } = clientOf(plane.kubeconfig);
  return {
    client,
    version: stage.groupVersion,
    inTransactions: false,
    kubectl: runner(join(plane.binaries, 'kubectl'), plane.kubeconfig, join(plane.folder, 'kubectl-cache')),
    async stop() {
      close();
      await operator.stop();
      nodes.stop();
      await plane.stop();
    },
  };
}

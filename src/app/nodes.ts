/** Simulated nodes on their own, against any API server that a kubeconfig leads to. */
import {
  createClient,
  createHttpTransport,
  loadKubeconfig,
  type Logger,
  systemClock,
} from '../machinery/runtime/index.ts';
import { seededRandom } from '../machinery/values/index.ts';
import { type SimulatedNodesOptions, createSimulatedNodes } from '../nodes/index.ts';
import { runComponents } from './run-components.ts';

export interface NodesHostOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly nodes: SimulatedNodesOptions;
  readonly log: Logger;
}

export interface NodesHost {
  readonly server: string;
  stop(): void;
}

/** Throws when the server cannot be reached. */
export async function startNodes({ context, kubeconfig, log, nodes }: NodesHostOptions): Promise<NodesHost> {
  const access = loadKubeconfig({ path: kubeconfig, context });
  const transport = createHttpTransport(access);
  await createClient({ transport: transport.send, userAgent: 'quorate-nodes' }).request('GET', '/version');
  const components = runComponents(
    {
      transportFor: () => transport.send,
      clock: systemClock,
      log,
      random: seededRandom(nodes.seed ?? 1),
    },
    [createSimulatedNodes(nodes)],
  );
  return {
    server: access.server,
    stop() {
      components.stop();
      transport.close();
    },
  };
}

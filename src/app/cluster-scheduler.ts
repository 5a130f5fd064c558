/** Our scheduler as one more scheduler of a cluster that exists already. */
import { createHttpTransport, loadKubeconfig, type Logger, systemClock } from '../machinery/runtime/index.ts';
import { startScheduler } from '../scheduler/index.ts';
import { runComponents } from './run-components.ts';

export interface ClusterSchedulerOptions {
  /** Default: as kubectl finds it. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** Pods that name this scheduler are its business. Default `quorate-scheduler`. */
  readonly schedulerName?: string | undefined;
  readonly log: Logger;
}

export interface ClusterScheduler {
  readonly server: string;
  readonly schedulerName: string;
  stop(): void;
}

/** Throws when the cluster cannot be reached at all; later losses are waited out. */
export async function startClusterScheduler(options: ClusterSchedulerOptions): Promise<ClusterScheduler> {
  const { log, schedulerName = 'quorate-scheduler' } = options;
  const access = loadKubeconfig({ path: options.kubeconfig, context: options.context });
  const http = createHttpTransport(access);
  const components = runComponents({ transportFor: () => http.send, clock: systemClock, log }, [
    (context) => startScheduler(context, { schedulerName }),
  ]);
  try {
    await components.client.request('GET', '/version');
  } catch (error) {
    components.stop();
    http.close();
    throw error;
  }
  return {
    server: access.server,
    schedulerName,
    stop() {
      components.stop();
      http.close();
    },
  };
}

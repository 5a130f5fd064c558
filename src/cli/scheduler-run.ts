import { type ClusterScheduler, startClusterScheduler } from '../app/index.ts';
import { createLogger } from './logger.ts';
import { stopSignal } from './stop-signal.ts';

export interface SchedulerFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly schedulerName: string;
  readonly leaseNamespace: string;
  readonly logLevel: string;
  readonly logFormat: string;
}

export async function runScheduler(flags: SchedulerFlags): Promise<void> {
  const { context, kubeconfig, leaseNamespace: namespace, logFormat, logLevel, schedulerName } = flags;
  let scheduler: ClusterScheduler;
  try {
    scheduler = await startClusterScheduler({
      kubeconfig,
      context,
      schedulerName,
      namespace,
      log: createLogger(logLevel, logFormat),
      lost: () => {
        process.exitCode = 1;
        process.emit('SIGTERM');
      },
    });
  } catch (error) {
    process.stderr.write(`quorate scheduler: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
    return;
  }
  const stopped = stopSignal();
  process.stdout.write(
    `Scheduling pods with schedulerName "${schedulerName}" on ${scheduler.server}. Ctrl-C stops it.\n`,
  );
  await stopped;
  scheduler.stop();
}

import { type ClusterScheduler, startClusterScheduler } from '../../app/index.ts';
import { failWith } from '../shared/fail.ts';
import { createLogger } from '../shared/logger.ts';
import { watchProcess } from '../shared/process-end.ts';

export interface SchedulerFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly schedulerName: string;
  readonly leaseNamespace: string;
  readonly bind: string;
  readonly metricsPort: number;
  readonly metricsOpen?: boolean;
  readonly logLevel: string;
  readonly logFormat: string;
}

export async function runScheduler(flags: SchedulerFlags): Promise<void> {
  const { context, kubeconfig, leaseNamespace: namespace, logFormat, logLevel, schedulerName } = flags;
  const log = createLogger(logLevel, logFormat);
  const end = watchProcess('scheduler', log);
  let scheduler: ClusterScheduler;
  try {
    scheduler = await startClusterScheduler({
      kubeconfig,
      context,
      schedulerName,
      namespace,
      bind: flags.bind,
      metricsPort: flags.metricsPort,
      metricsOpen: flags.metricsOpen,
      log,
      lost: () => {
        process.exitCode = 1;
        process.emit('SIGTERM');
      },
    });
  } catch (error) {
    process.exitCode = failWith('scheduler', error);
    return;
  }
  const stopped = end.asked();
  process.stdout.write(
    `Scheduling pods with schedulerName "${schedulerName}" on ${scheduler.server}; metrics on port ${scheduler.metricsPort}. Ctrl-C stops it.\n`,
  );
  await stopped;
  await end.stop(() => scheduler.stop());
}

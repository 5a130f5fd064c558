/**
 * How a command that lasts comes to its end: because somebody asks it to, or because of a failure that nothing caught.
 * Either way everything is stopped in order, so that what was acknowledged is on disk and open watches are ended.
 */
import {
  countProcessFailure,
  type Logger,
  type ProcessFailure,
  requestsUnderWay,
} from '../../machinery/runtime/index.ts';

/** The exit code after a failure that nothing caught. */
export const FAILED = 4;
/** Stopping takes a second at most; a process that failed may not be able to. */
const STOP_MS = 10_000;

export interface ProcessEnd {
  /**
   * Resolves when the process is to stop. It listens to SIGINT and SIGTERM from the call on, so call it before saying
   * that all is up: whoever reads that may ask to stop in the same moment. A second signal ends the process at once.
   */
  asked(): Promise<void>;
  /** Stops in order. After a failure the process ends with it, also when stopping takes too long. */
  stop(stop: () => void | Promise<void>): Promise<void>;
}

/** Takes over what nothing catches, from the call on. Before the command is up, such a failure ends it at once. */
export function watchProcess(command: string, log: Logger): ProcessEnd {
  let failed = false;
  let tell: (() => void) | undefined;
  const fail = (kind: ProcessFailure, error: unknown): void => {
    countProcessFailure(kind);
    log.error({ err: error, kind, requests: requestsUnderWay() }, 'uncaught error; shutting down');
    if (failed) return;
    failed = true;
    process.exitCode = FAILED;
    const message = error instanceof Error ? error.message : 'something that is no error was thrown';
    const stack = error instanceof Error ? `${error.stack ?? ''}\n` : '';
    process.stderr.write(`quorate ${command}: stopping after an internal failure: ${message}\n${stack}`);
    if (tell === undefined) process.exit(FAILED);
    tell();
  };
  process.on('uncaughtException', (error) => fail('uncaughtException', error));
  process.on('unhandledRejection', (reason) => fail('unhandledRejection', reason));
  return {
    asked: () =>
      new Promise((resolve) => {
        tell = resolve;
        const stop = (): void => {
          for (const signal of ['SIGINT', 'SIGTERM'] as const) {
            process.removeListener(signal, stop);
            process.once(signal, () => process.exit(130));
          }
          resolve();
        };
        process.on('SIGINT', stop);
        process.on('SIGTERM', stop);
      }),
    async stop(stop) {
      const late = setTimeout(() => {
        if (!failed) return;
        log.error({}, 'did not shut down in time; exiting at once');
        process.exit(FAILED);
      }, STOP_MS).unref();
      try {
        await stop();
      } catch (error) {
        if (!failed) throw error;
        log.error({ err: error }, 'could not shut down cleanly');
      }
      clearTimeout(late);
      if (failed) process.exit(FAILED);
    },
  };
}

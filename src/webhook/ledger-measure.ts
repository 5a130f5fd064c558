/** What writing ledgers costs and how often others were faster. */
import { type Clock, isConflict, type Metrics } from '../machinery/runtime/index.ts';

/** A grant before it is given, grants listed after they were given, a recount, a hold recalled. */
export type LedgerWrite = 'grant' | 'list' | 'count' | 'recall';

export interface LedgerMeasure {
  /** Times a write, and counts it where it lost against another. */
  time<T>(kind: LedgerWrite, write: () => Promise<T>): Promise<T>;
  /** One that was deleted has been made again. */
  recreated(): void;
}

export const unmeasured: LedgerMeasure = { time: (_, write) => write(), recreated: () => {} };

export function measureLedgers(metrics: Metrics, clock: Clock): LedgerMeasure {
  const seconds = metrics.histogram('quorate_ledger_write_seconds');
  const conflicts = metrics.counter('quorate_ledger_conflicts_total');
  const recalls = metrics.counter('quorate_ledger_recalls_total');
  const recreated = metrics.counter('quorate_ledger_recreated_total');
  return {
    async time(kind, write) {
      const startedMs = clock.elapsed();
      if (kind === 'recall') recalls.inc();
      try {
        return await write();
      } catch (error) {
        if (isConflict(error)) conflicts.inc();
        throw error;
      } finally {
        seconds.observe({ kind }, (clock.elapsed() - startedMs) / 1000);
      }
    },
    recreated: () => recreated.inc(),
  };
}

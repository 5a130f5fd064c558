/** What every process on a cluster says about itself: whether it leads, what it follows, what it is. */
import { QUORATE_VERSION } from '../api/version.ts';
import type { Clock, InformerSet, Metrics } from '../machinery/runtime/index.ts';

export interface ProcessSources {
  readonly clock: Clock;
  readonly isLeading: () => boolean;
  /** Undefined until something is followed. */
  readonly informers: () => InformerSet | undefined;
  readonly mode: string;
  /** Number of the formula by which pod numbers are published; none on a process that publishes nothing. */
  readonly publication?: number | undefined;
}

/** To be called whenever the leader lease is seen renewed. */
export type Renewed = () => void;

export function countProcess(metrics: Metrics, sources: ProcessSources): Renewed {
  const { clock, informers, isLeading, mode, publication } = sources;
  let renewedMs = clock.elapsed();
  metrics.countedGauge('quorate_leader', () => [[{}, isLeading() ? 1 : 0]]);
  metrics.countedGauge('quorate_lease_age_seconds', () => [[{}, (clock.elapsed() - renewedMs) / 1000]]);
  const states = () => informers()?.states() ?? [];
  metrics.countedGauge('quorate_watch_age_seconds', () =>
    states().map(({ resource, silentMs }) => [{ resource }, silentMs / 1000]),
  );
  metrics.countedGauge('quorate_cache_live', () => states().map(({ live, resource }) => [{ resource }, live ? 1 : 0]));
  const labels = { version: QUORATE_VERSION, mode, publication: publication === undefined ? '' : String(publication) };
  metrics.countedGauge('quorate_build_info', () => [[labels, 1]]);
  return () => {
    renewedMs = clock.elapsed();
  };
}

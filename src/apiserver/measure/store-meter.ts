/** How long the transactions of the store take until they are on disk, by the kind and the operation of their first write. */
import { type BucketTally, type Clock, emptyTally } from '../../machinery/runtime/index.ts';
import type { PendingWrite } from '../stored/pending-writes.ts';

export interface StoreSeries {
  readonly operation: string;
  readonly group: string;
  readonly resource: string;
  readonly durations: BucketTally;
  failed: number;
}

type OfPrefix = Partial<Record<'create' | 'update' | 'delete', StoreSeries>>;

export class StoreMeter {
  readonly #clock: Clock;
  readonly #byPrefix = new Map<string, OfPrefix>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  begin(): number {
    return this.#clock.elapsed();
  }

  end(startedMs: number, write: PendingWrite, failed = false): void {
    const series = this.#seriesOf(write);
    series.durations.observe((this.#clock.elapsed() - startedMs) / 1000);
    if (failed) series.failed += 1;
  }

  *series(): Iterable<StoreSeries> {
    for (const found of this.#byPrefix.values()) yield* Object.values(found);
  }

  #seriesOf({ entry, key }: PendingWrite): StoreSeries {
    // `/registry/GROUP/PLURAL/…`
    const group = key.indexOf('/', 1);
    const plural = key.indexOf('/', group + 1);
    const end = key.indexOf('/', plural + 1);
    const prefix = key.slice(0, end);
    let found = this.#byPrefix.get(prefix);
    if (found === undefined) this.#byPrefix.set(prefix, (found = {}));
    const operation = entry === undefined ? 'delete' : entry.createRevision === entry.revision ? 'create' : 'update';
    let series = found[operation];
    if (series === undefined) {
      const stored = key.slice(group + 1, plural);
      found[operation] = series = {
        operation,
        group: stored === 'core' ? '' : stored,
        resource: key.slice(plural + 1, end),
        durations: emptyTally('etcd_request_duration_seconds'),
        failed: 0,
      };
    }
    return series;
  }
}

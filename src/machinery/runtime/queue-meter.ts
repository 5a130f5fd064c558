/** What is measured of a work queue: the metrics that client-go has for its own, by the same names. */
import type { BucketTally } from './bucket-tally.ts';
import type { Clock } from './clock.ts';
import type { Metrics } from './metrics.ts';

/** The queues of a process that are open, for what is only known when somebody asks. */
const open = new WeakMap<Metrics, Set<QueueMeter>>();

export class QueueMeter {
  readonly #metrics: Metrics;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #waited: BucketTally;
  readonly #worked: BucketTally;
  readonly #addedAt = new Map<string, number>();
  readonly #begunAt = new Map<string, number>();

  constructor(metrics: Metrics, name: string, clock: Clock) {
    this.#metrics = metrics;
    this.#name = name;
    this.#clock = clock;
    this.#waited = metrics.tallyOf('workqueue_queue_duration_seconds', { name });
    this.#worked = metrics.tallyOf('workqueue_work_duration_seconds', { name });
    let queues = open.get(metrics);
    if (queues === undefined) open.set(metrics, (queues = measured(metrics)));
    queues.add(this);
    this.depth(0);
    // There from the start, so that a rate of nothing is zero and not unknown.
    this.retried(0);
  }

  get name(): string {
    return this.#name;
  }

  depth(waiting: number): void {
    this.#metrics.gauge('workqueue_depth').set({ name: this.#name }, waiting);
  }

  retried(times = 1): void {
    this.#metrics.counter('workqueue_retries_total').inc({ name: this.#name }, times);
  }

  added(key: string): void {
    this.#metrics.counter('workqueue_adds_total').inc({ name: this.#name });
    this.#addedAt.set(key, this.#clock.elapsed());
  }

  begun(key: string): void {
    const now = this.#clock.elapsed();
    this.#waited.observe((now - (this.#addedAt.get(key) ?? now)) / 1000);
    this.#addedAt.delete(key);
    this.#begunAt.set(key, now);
  }

  done(key: string): void {
    const begun = this.#begunAt.get(key);
    if (begun !== undefined) this.#worked.observe((this.#clock.elapsed() - begun) / 1000);
    this.#begunAt.delete(key);
  }

  close(): void {
    this.depth(0);
    this.#addedAt.clear();
    open.get(this.#metrics)?.delete(this);
  }

  /** For how long each key that is being worked on has been, in seconds. */
  running(): number[] {
    const now = this.#clock.elapsed();
    return Array.from(this.#begunAt.values(), (begun) => (now - begun) / 1000);
  }
}

function measured(metrics: Metrics): Set<QueueMeter> {
  const queues = new Set<QueueMeter>();
  const each = (measure: (seconds: readonly number[]) => number) => () =>
    Array.from(queues, (queue): [{ name: string }, number] => [{ name: queue.name }, measure(queue.running())]);
  metrics.countedGauge(
    'workqueue_unfinished_work_seconds',
    each((all) => all.reduce((sum, one) => sum + one, 0)),
  );
  metrics.countedGauge(
    'workqueue_longest_running_processor_seconds',
    each((all) => Math.max(0, ...all)),
  );
  return queues;
}

/** How long admission takes, step by step, and what becomes of the calls of webhooks. */
import { type BucketTally, type Clock, emptyTally } from '../../machinery/runtime/index.ts';

export type StepType = 'admit' | 'validate';
export type WebhookType = 'admit' | 'validating';
type Labels<K extends string> = Readonly<Record<K, string>>;

interface Counted<L> {
  readonly labels: L;
  value: number;
}

/** Calls of webhooks are few and slow: their series are found by a text. */
class Counts<K extends string> {
  readonly #series = new Map<string, Counted<Labels<K>>>();

  add(labels: Labels<K>): void {
    const key = JSON.stringify(labels);
    const known = this.#series.get(key);
    if (known === undefined) this.#series.set(key, { labels, value: 1 });
    else known.value += 1;
  }

  *[Symbol.iterator](): Iterator<[labels: Labels<K>, value: number]> {
    for (const { labels, value } of this.#series.values()) yield [labels, value];
  }
}

class Durations<K extends string> {
  readonly #series = new Map<string, [labels: Labels<K>, tally: BucketTally]>();
  readonly #empty: () => BucketTally;

  constructor(empty: () => BucketTally) {
    this.#empty = empty;
  }

  of(labels: Labels<K>): BucketTally {
    const key = JSON.stringify(labels);
    let known = this.#series.get(key);
    if (known === undefined) this.#series.set(key, (known = [labels, this.#empty()]));
    return known[1];
  }

  [Symbol.iterator](): Iterator<[labels: Labels<K>, tally: BucketTally]> {
    return this.#series.values();
  }
}

export interface WebhookCalled {
  readonly name: string;
  readonly type: WebhookType;
  readonly operation: string;
}

/** Codes above are not told apart, so that a webhook cannot make series without end. */
const MAX_CODE = 600;

export class AdmissionMeter {
  readonly #clock: Clock;
  readonly #steps: (BucketTally | undefined)[] = [];
  readonly steps = new Durations<'type' | 'operation' | 'rejected'>(() =>
    emptyTally('apiserver_admission_step_admission_duration_seconds'),
  );
  readonly webhooks = new Durations<'name' | 'type' | 'operation' | 'rejected'>(() =>
    emptyTally('apiserver_admission_webhook_admission_duration_seconds'),
  );
  readonly calls = new Counts<'name' | 'type' | 'operation' | 'code' | 'rejected'>();
  readonly rejections = new Counts<'name' | 'type' | 'operation' | 'error_type' | 'rejection_code'>();
  readonly failedOpen = new Counts<'name' | 'type'>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.elapsed();
  }

  step(type: StepType, operation: string, startedMs: number, rejected: boolean): void {
    const slot = OPERATIONS.indexOf(operation) * 4 + (type === 'admit' ? 2 : 0) + (rejected ? 1 : 0);
    const tally = (this.#steps[slot] ??= this.steps.of({ type, operation, rejected: String(rejected) }));
    tally.observe((this.#clock.elapsed() - startedMs) / 1000);
  }

  /** `code` is what the webhook refused with; `failed` says that it did not answer. Returns how long it took. */
  called(
    { name, operation, type }: WebhookCalled,
    startedMs: number,
    { code, failed, rejected }: { code: number; failed: boolean; rejected: boolean },
  ): number {
    const tookMs = this.#clock.elapsed() - startedMs;
    this.webhooks.of({ name, type, operation, rejected: String(rejected) }).observe(tookMs / 1000);
    const shown = String(Math.min(code, MAX_CODE));
    this.calls.add({ name, type, operation, code: failed || rejected ? shown : '200', rejected: String(rejected) });
    if (rejected) {
      const error_type = failed ? 'calling_webhook_error' : 'no_error';
      this.rejections.add({ name, type, operation, error_type, rejection_code: shown });
    }
    return tookMs;
  }
}

const OPERATIONS: readonly string[] = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'];

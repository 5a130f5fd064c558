/** What is said of a metric in the table. */

/** Which process serves it: `quorate operator`, `quorate scheduler`, `quorate up`. */
export type MetricHost = 'operator' | 'scheduler' | 'up';

export interface MetricRow {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly on: readonly MetricHost[];
  readonly buckets?: readonly number[];
  /** Where it is served if not at `/metrics`. */
  readonly path?: string;
}

/** Where our own controllers run. */
export const CONTROLLERS = ['operator', 'up'] as const;

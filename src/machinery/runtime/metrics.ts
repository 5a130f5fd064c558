import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { processFailures } from './process-failures.ts';

/**
 * One process's metrics. Several planes may live in one process (tests), so nothing registers globally;
 * asking twice for the same name returns the same metric.
 */
export class Metrics {
  readonly registry = new Registry();

  constructor() {
    new Counter({
      name: 'quorate_process_failures_total',
      help: 'Failures that nothing in the process caught; the first one makes it stop in order',
      labelNames: ['kind'],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [kind, count] of Object.entries(processFailures())) this.inc({ kind }, count);
      },
    });
  }

  counter<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return (
      (this.registry.getSingleMetric(name) as Counter<L> | undefined) ??
      new Counter({ name, help, labelNames: [...labelNames], registers: [this.registry] })
    );
  }

  gauge<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    return (
      (this.registry.getSingleMetric(name) as Gauge<L> | undefined) ??
      new Gauge({ name, help, labelNames: [...labelNames], registers: [this.registry] })
    );
  }

  /** A gauge whose series are counted anew each time somebody reads them. */
  countedGauge<L extends string>(
    name: string,
    {
      count,
      help,
      labelNames,
    }: { help: string; labelNames: readonly L[]; count: () => Iterable<[Record<L, string>, number]> },
  ): void {
    // Who counts last is right: an earlier server on these metrics has been stopped.
    this.registry.removeSingleMetric(name);
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [this.registry],
      collect() {
        this.reset();
        for (const [labels, value] of count()) this.set(labels, value);
      },
    });
  }

  histogram<L extends string>(
    name: string,
    help: string,
    { labelNames = [], buckets }: { labelNames?: readonly L[]; buckets?: number[] } = {},
  ): Histogram<L> {
    return (
      (this.registry.getSingleMetric(name) as Histogram<L> | undefined) ??
      new Histogram({
        name,
        help,
        labelNames: [...labelNames],
        ...(buckets === undefined ? {} : { buckets }),
        registers: [this.registry],
      })
    );
  }
}

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { MetricHost } from './metric-row.ts';
import { type LabelOf, METRICS, type MetricName, metricRow, type Named } from './metric-table.ts';
import { processFailures } from './process-failures.ts';

/** One number of a metric: its labels and its value. */
export type Series<N extends MetricName> = [labels: Record<LabelOf<N>, string>, value: number];

/**
 * One process's metrics, each with a row in the table. Several planes may live in one process (tests), so nothing
 * registers globally; asking twice for the same name returns the same metric.
 */
export class Metrics {
  readonly registry = new Registry();

  /** For a host, all of its metrics are served from the start, and those of the process with them. */
  constructor(host?: MetricHost) {
    const { labels, ...failures } = this.#config('quorate_process_failures_total');
    new Counter({
      ...failures,
      labelNames: [...labels],
      collect() {
        this.reset();
        for (const [kind, count] of Object.entries(processFailures())) this.inc({ kind }, count);
      },
    });
    if (host === undefined) return;
    for (const name of Object.keys(METRICS) as MetricName[]) if (metricRow(name).on.includes(host)) this.#open(name);
    collectDefaultMetrics({ register: this.registry });
  }

  counter<N extends Named<'counter'>>(name: N): Counter<LabelOf<N>> {
    return this.#open(name) as Counter<LabelOf<N>>;
  }

  gauge<N extends Named<'gauge'>>(name: N): Gauge<LabelOf<N>> {
    return this.#open(name) as Gauge<LabelOf<N>>;
  }

  histogram<N extends Named<'histogram'>>(name: N): Histogram<LabelOf<N>> {
    return this.#open(name) as Histogram<LabelOf<N>>;
  }

  /** A gauge whose series are counted anew each time somebody reads them. */
  countedGauge<N extends Named<'gauge'>>(name: N, count: () => Iterable<Series<N>>): void {
    // Who counts last is right: an earlier server on these metrics has been stopped.
    this.registry.removeSingleMetric(name);
    const { labels, ...config } = this.#config(name);
    new Gauge<string>({
      ...config,
      labelNames: [...labels],
      collect() {
        this.reset();
        for (const [series, value] of count()) this.set(series, value);
      },
    });
  }

  /** A counter that is kept elsewhere and read when somebody asks for it. */
  countedCounter<N extends Named<'counter'>>(name: N, count: () => Iterable<Series<N>>): void {
    this.registry.removeSingleMetric(name);
    const { labels, ...config } = this.#config(name);
    new Counter<string>({
      ...config,
      labelNames: [...labels],
      collect() {
        this.reset();
        for (const [series, value] of count()) this.inc(series, value);
      },
    });
  }

  #config(name: MetricName) {
    const { help, labels } = metricRow(name);
    return { name, help, labels, registers: [this.registry] };
  }

  #open(name: MetricName): unknown {
    const known = this.registry.getSingleMetric(name);
    if (known !== undefined) return known;
    const { buckets, type } = metricRow(name);
    const { labels, ...config } = this.#config(name);
    const labelNames = [...labels];
    if (type === 'counter') return new Counter({ ...config, labelNames });
    if (type === 'gauge') return new Gauge({ ...config, labelNames });
    return new Histogram({ ...config, labelNames, ...(buckets === undefined ? {} : { buckets: [...buckets] }) });
  }
}

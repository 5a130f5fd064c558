import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { BucketTally } from './bucket-tally.ts';
import type { MetricHost } from './metric-row.ts';
import { type LabelOf, METRICS, type MetricName, metricRow, type Named } from './metric-table.ts';
import { processFailures } from './process-failures.ts';

/** One number of a metric: its labels and its value. */
export type Series<N extends MetricName> = [labels: Record<LabelOf<N>, string>, value: number];

/** One distribution of a metric: its labels and what was observed. */
export type TalliedSeries<N extends MetricName> = [labels: Record<LabelOf<N>, string>, tally: BucketTally];

/**
 * One process's metrics, each with a row in the table. Several planes may live in one process (tests), so nothing
 * registers globally; asking twice for the same name returns the same metric.
 */
export class Metrics {
  readonly registry = new Registry();
  /** What is served on pages of their own, by path. */
  readonly #pages = new Map<string, Registry>();
  readonly #tallies = new Map<MetricName, Map<string, [labels: Record<string, string>, tally: BucketTally]>>();

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
    this.#registryOf(name).removeSingleMetric(name);
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

  /** A counter that is kept elsewhere and told when somebody reads it. */
  countedTotal<N extends Named<'counter'>>(name: N, count: () => Iterable<Series<N>>): void {
    this.#replace(name, 'counter', () => Array.from(count(), ([labels, value]) => ({ labels, value })));
  }

  /** A histogram that is kept elsewhere, as tallies, and told when somebody reads it. */
  tallied<N extends Named<'histogram'>>(name: N, read: () => Iterable<TalliedSeries<N>>): void {
    this.#replace(name, 'histogram', () =>
      Array.from(read(), ([labels, tally]) => linesOf(name, labels, tally)).flat(),
    );
  }

  /** The tally of these labels, to be kept by who observes; the same for who asks again. */
  tallyOf<N extends Named<'histogram'>>(name: N, labels: Record<LabelOf<N>, string>): BucketTally {
    let known = this.#tallies.get(name);
    if (known === undefined) {
      this.#tallies.set(name, (known = new Map()));
      const series = known as Map<string, TalliedSeries<N>>;
      this.tallied(name, () => series.values());
    }
    const key = JSON.stringify(labels);
    let series = known.get(key);
    if (series === undefined) known.set(key, (series = [labels, emptyTally(name)]));
    return series[1];
  }

  /** What is served at a path; undefined where nothing is. */
  page(path: string): Registry | undefined {
    return path === '/metrics' ? this.registry : this.#pages.get(path);
  }

  #registryOf(name: MetricName): Registry {
    const { path } = metricRow(name);
    if (path === undefined) return this.registry;
    let page = this.#pages.get(path);
    if (page === undefined) this.#pages.set(path, (page = new Registry()));
    return page;
  }

  #replace(name: MetricName, type: 'counter' | 'histogram', read: () => Line[]): void {
    const registry = this.#registryOf(name);
    registry.removeSingleMetric(name);
    const { help } = metricRow(name);
    const metric = { name, help, type, get: () => Promise.resolve({ name, help, type, values: read() }), reset() {} };
    // Of a metric the registry asks for its name, and what it holds.
    registry.registerMetric(metric as unknown as Counter);
  }

  #config(name: MetricName) {
    const { help, labels } = metricRow(name);
    return { name, help, labels, registers: [this.#registryOf(name)] };
  }

  #open(name: MetricName): unknown {
    const known = this.#registryOf(name).getSingleMetric(name);
    if (known !== undefined) return known;
    const { buckets, type } = metricRow(name);
    const { labels, ...config } = this.#config(name);
    const labelNames = [...labels];
    if (type === 'counter') return new Counter({ ...config, labelNames });
    if (type === 'gauge') return new Gauge({ ...config, labelNames });
    return new Histogram({ ...config, labelNames, ...(buckets === undefined ? {} : { buckets: [...buckets] }) });
  }
}

/** A tally with the buckets of this metric. */
export function emptyTally(name: Named<'histogram'>): BucketTally {
  return new BucketTally(metricRow(name).buckets ?? []);
}

interface Line {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

function linesOf(name: string, labels: Readonly<Record<string, string>>, tally: BucketTally): Line[] {
  let count = 0;
  const lines: Line[] = [];
  tally.counts.forEach((more, at) => {
    count += more;
    lines.push({ labels: { ...labels, le: boundText(tally.bounds[at]) }, value: count, metricName: `${name}_bucket` });
  });
  lines.push({ labels, value: tally.sum, metricName: `${name}_sum` });
  lines.push({ labels, value: count, metricName: `${name}_count` });
  return lines;
}

/** As Go writes numbers, which everybody has in their queries. */
function boundText(bound: number | undefined): string {
  if (bound === undefined) return '+Inf';
  return bound < 1e-4 ? bound.toExponential().replace(/-(\d)$/, '-0$1') : String(bound);
}

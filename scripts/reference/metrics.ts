import { METRICS, type MetricRow, Metrics } from '../../src/machinery/runtime/index.ts';

const COMMANDS = { operator: '`quorate operator`', scheduler: '`quorate scheduler`', up: '`quorate up`' } as const;

/** The metrics of every process, from the table they are made by. */
export function renderMetrics(): string {
  const rows = Object.entries(METRICS as Record<string, MetricRow>);
  const lines = [
    '# Metrics',
    '',
    'Every process serves `/metrics` in the text form of Prometheus: the operator and the scheduler over TLS, to whom the API',
    'server lets `get` that path (ClusterRole `quorate-metrics`; `--metrics-open` lets anybody, on a laptop), `quorate up` on',
    'the port of its API. Each replica says what it knows: take the largest of a budget, not the sum. No label holds the',
    'name or UID of a pod; `budget` is bounded by the number of PodDisruptionBudgets that count groups. `quorate up` has the',
    'families of kube-apiserver by its names, labels and buckets, so that alerts and dashboards for Kubernetes work; its checks',
    'of health are at `/metrics/slis`.',
  ];
  for (const host of ['operator', 'scheduler', 'up'] as const) {
    lines.push('', `## ${COMMANDS[host]}`, '', '| name | type | labels | what |', '|---|---|---|---|');
    for (const [name, { help, labels, on, type }] of rows) {
      if (!on.includes(host)) continue;
      lines.push(`| \`${name}\` | ${type} | ${labels.map((one) => `\`${one}\``).join(', ')} | ${help} |`);
    }
  }
  const own = new Set(rows.map(([name]) => name));
  const common = new Metrics('operator').registry.getMetricsAsArray().filter(({ name }) => !own.has(name));
  lines.push('', '## The process itself', '', 'On each of them, by the names of the client library.', '');
  lines.push('| name | what |', '|---|---|', ...common.map(({ help, name }) => `| \`${name}\` | ${help} |`));
  return `${lines.join('\n')}\n`;
}

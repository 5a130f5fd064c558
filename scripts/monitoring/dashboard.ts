/** The Grafana dashboard of the chart, as data. */
interface Panel {
  readonly title: string;
  readonly queries: readonly { readonly expression: string; readonly legend: string }[];
  readonly type?: 'timeseries' | 'stat' | 'table';
  readonly unit?: string;
  readonly wide?: boolean;
}

const byBudget = (name: string): string =>
  `max by (namespace, budget) (${name}{namespace=~"$namespace",budget=~"$budget"})`;
const BUDGET = '{{namespace}}/{{budget}}';

const PANELS: readonly Panel[] = [
  { title: 'Leaders', type: 'stat', queries: [{ expression: 'sum(quorate_leader)', legend: '' }] },
  {
    title: 'Budgets over groups',
    type: 'stat',
    queries: [{ expression: 'count(count by (namespace, budget) (quorate_budget_units_expected))', legend: '' }],
  },
  {
    title: 'Budgets that fell back to pods',
    type: 'stat',
    queries: [
      { expression: 'count(max by (namespace, budget) (quorate_fallback_to_pods == 1)) or vector(0)', legend: '' },
    ],
  },
  {
    title: 'Certificate ends in',
    type: 'stat',
    unit: 's',
    queries: [{ expression: 'min(quorate_certificate_expiry_timestamp_seconds) - time()', legend: '' }],
  },
  {
    title: 'Groups available',
    wide: true,
    queries: [
      { expression: byBudget('quorate_budget_units_available'), legend: `${BUDGET} available` },
      { expression: byBudget('quorate_budget_units_desired'), legend: `${BUDGET} must stay` },
      { expression: byBudget('quorate_budget_units_expected'), legend: `${BUDGET} expected` },
    ],
  },
  {
    title: 'May go now: groups, and pods as published',
    wide: true,
    queries: [
      { expression: byBudget('quorate_budget_units_disruptions_allowed'), legend: `${BUDGET} groups` },
      { expression: byBudget('quorate_budget_pods_disruptions_allowed'), legend: `${BUDGET} pods` },
    ],
  },
  {
    title: 'Granted and not gone yet',
    queries: [
      {
        expression:
          'max by (namespace, budget, kind) (quorate_budget_grants_outstanding{namespace=~"$namespace",budget=~"$budget"})',
        legend: `${BUDGET} {{kind}}`,
      },
    ],
  },
  {
    title: 'Nothing but refusals for',
    unit: 's',
    queries: [{ expression: byBudget('quorate_budget_refused_seconds'), legend: BUDGET }],
  },
  {
    title: 'Refused evictions by reason',
    unit: 'ops',
    queries: [
      {
        expression:
          'sum by (namespace, budget, reason) (rate(quorate_eviction_refusals_total{namespace=~"$namespace",budget=~"$budget"}[$__rate_interval]))',
        legend: `${BUDGET} {{reason}}`,
      },
    ],
  },
  {
    title: 'Judged evictions',
    unit: 'ops',
    queries: [
      { expression: 'sum by (result) (rate(quorate_eviction_reviews_total[$__rate_interval]))', legend: '{{result}}' },
    ],
  },
  {
    title: 'Time to answer a review (99%)',
    unit: 's',
    queries: [
      {
        expression:
          'histogram_quantile(0.99, sum by (le, path) (rate(quorate_review_seconds_bucket[$__rate_interval])))',
        legend: '{{path}}',
      },
    ],
  },
  {
    title: 'Time to write a ledger (99%)',
    unit: 's',
    queries: [
      {
        expression:
          'histogram_quantile(0.99, sum by (le, kind) (rate(quorate_ledger_write_seconds_bucket[$__rate_interval])))',
        legend: '{{kind}}',
      },
    ],
  },
  {
    title: 'Ledgers: conflicts and recalls',
    unit: 'ops',
    queries: [
      { expression: 'sum(rate(quorate_ledger_conflicts_total[$__rate_interval]))', legend: 'conflicts' },
      { expression: 'sum(rate(quorate_ledger_recalls_total[$__rate_interval]))', legend: 'recalls' },
    ],
  },
  {
    title: 'Nothing heard of a resource for',
    unit: 's',
    queries: [{ expression: 'max by (resource) (quorate_watch_age_seconds)', legend: '{{resource}}' }],
  },
  {
    title: 'Age of the leader lease',
    unit: 's',
    queries: [{ expression: 'min by (job) (quorate_lease_age_seconds)', legend: '{{job}}' }],
  },
  {
    title: 'Memory and processor of each replica',
    queries: [
      { expression: 'process_resident_memory_bytes{job=~"quorate.*"}', legend: '{{pod}} bytes' },
      { expression: 'rate(process_cpu_seconds_total{job=~"quorate.*"}[$__rate_interval])', legend: '{{pod}} cores' },
    ],
  },
];

const WIDTH = 24;
const HEIGHT = 8;

export function dashboard(): object {
  let x = 0;
  let y = 0;
  const panels = PANELS.map(({ queries, title, type = 'timeseries', unit = 'short', wide = false }, index) => {
    const width = type === 'stat' ? 6 : wide ? WIDTH : WIDTH / 2;
    const height = type === 'stat' ? HEIGHT / 2 : HEIGHT;
    if (x + width > WIDTH) {
      x = 0;
      y += HEIGHT;
    }
    const gridPos = { h: height, w: width, x, y };
    x += width;
    return {
      id: index + 1,
      title,
      type,
      datasource: { type: 'prometheus', uid: '${datasource}' },
      gridPos,
      fieldConfig: { defaults: { unit }, overrides: [] },
      targets: queries.map(({ expression, legend }, at) => ({
        refId: String.fromCharCode(65 + at),
        expr: expression,
        legendFormat: legend,
      })),
    };
  });
  return {
    title: 'Quorate',
    uid: 'quorate',
    schemaVersion: 39,
    tags: ['kubernetes', 'quorate'],
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: [dataSource, variable('namespace'), variable('budget')] },
    panels,
  };
}

const dataSource = { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' };

function variable(label: string): object {
  return {
    name: label,
    type: 'query',
    datasource: { type: 'prometheus', uid: '${datasource}' },
    query: `label_values(quorate_budget_units_expected, ${label})`,
    includeAll: true,
    multi: true,
    allValue: '.*',
    refresh: 2,
  };
}

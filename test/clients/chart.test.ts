/** The Helm chart, rendered and checked by the real helm. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { CHART, chartFiles } from '../../scripts/chart.ts';
import type { KubeObject } from '../../src/api/resource.ts';
import { OPTIONAL_FEATURES } from '../../src/api/crds/index.ts';
import { defaultInstall, type InstallOptions, installObjects } from '../../src/webhook/index.ts';
import { ALERTS } from '../../scripts/monitoring/alerts.ts';
import { findHelm } from './kubectl.ts';

const NAMESPACE = defaultInstall.namespace;

async function helm(...args: string[]): Promise<string> {
  return (await promisify(execFile)(findHelm(), args, { maxBuffer: 32 * 1024 * 1024 })).stdout;
}

test('the chart is what npm run chart writes', () => {
  for (const [path, text] of chartFiles()) expect(readFileSync(join(CHART, path), 'utf8')).toBe(text);
});

test('helm finds nothing to complain about in the chart', async () => {
  expect(await helm('lint', '--strict', CHART)).toContain('1 chart(s) linted, 0 chart(s) failed');
});

const nameOf = ({ kind, metadata }: KubeObject): string => `${kind}/${metadata.namespace ?? ''}/${metadata.name}`;
const byName = (a: KubeObject, b: KubeObject): number => nameOf(a).localeCompare(nameOf(b));

async function rendered(...values: string[]): Promise<KubeObject[]> {
  const flags = values.flatMap((value) => ['--set', value]);
  const text = await helm('template', 'quorate', CHART, '--namespace', NAMESPACE, ...flags);
  return parseAllDocuments(text)
    .map((document) => document.toJS() as KubeObject)
    .filter((object) => object !== null && object.metadata.annotations?.['helm.sh/hook'] === undefined)
    .map(withoutHelm)
    .sort(byName);
}

/** Annotations for Helm's own eyes say nothing to the cluster. */
function withoutHelm(object: KubeObject): KubeObject {
  const { annotations = {}, ...metadata } = object.metadata;
  const kept = Object.entries(annotations).filter(([key]) => !key.startsWith('helm.sh/'));
  return { ...object, metadata: kept.length === 0 ? metadata : { ...metadata, annotations: Object.fromEntries(kept) } };
}

/** Helm makes the namespace, with --create-namespace. */
function installed(options: Partial<InstallOptions> = {}): KubeObject[] {
  return (JSON.parse(JSON.stringify(installObjects({ ...defaultInstall, ...options }))) as KubeObject[])
    .filter(({ kind }) => kind !== 'Namespace')
    .sort(byName);
}

test('the chart with its default values is what quorate install prints', async () => {
  expect(await rendered()).toEqual(installed());
});

test.each<[string[], Partial<InstallOptions>]>([
  [['mode=replace'], { mode: 'replace' }],
  [['certManager=true'], { certManager: true }],
  [
    ['failOpen=true', 'replicas=3', 'image=registry.example/q:1'],
    { failOpen: true, replicas: 3, image: 'registry.example/q:1' },
  ],
  [['mode=replace', 'certManager=true', 'failOpen=true'], { mode: 'replace', certManager: true, failOpen: true }],
  [['groups=crd', 'scheduler=true'], { groups: 'crd', scheduler: true }],
  [['evictionRequests=crd'], { requestKinds: 'crd' }],
  [['evictionRequests=crd', 'features.evictionRequests=false'], { requestKinds: 'crd', evictionRequests: false }],
  [['mode=replace', 'failOpen=true'], { mode: 'replace', failOpen: true }],
  [['mode=alongside', 'recreateWebhooks=true'], { mode: 'alongside', recreateWebhooks: true }],
  [['features.pickers=false'], { pickers: false }],
  [
    [
      'noticeSecrets[0].namespace=ml',
      'noticeSecrets[0].names={checkpoints,saver}',
      'noticeSecrets[1].namespace=web',
      'noticeSecrets[1].names={x}',
    ],
    { noticeSecrets: ['ml/checkpoints', 'ml/saver', 'web/x'] },
  ],
  [
    ['mode=replace', 'features.groupEvictions=false', 'features.podUnavailableBudgets=false'],
    { mode: 'replace', groupEvictions: false, podUnavailableBudgets: false },
  ],
  [
    ['mode=alongside', ...OPTIONAL_FEATURES.map((feature) => `features.${feature}=false`)],
    { mode: 'alongside', ...Object.fromEntries(OPTIONAL_FEATURES.map((feature) => [feature, false])) },
  ],
])('the chart with %j is what quorate install prints with those flags', async (values, options) => {
  expect(await rendered(...values)).toEqual(installed(options));
});

test('helm refuses values that make no sense', async () => {
  await expect(rendered('mode=beside')).rejects.toThrow(/mode/);
  await expect(rendered('replicas=0')).rejects.toThrow(/replicas/);
  await expect(rendered('replica=3')).rejects.toThrow(/replica/);
});

test('the definitions can be left to somebody else', async () => {
  const kinds = (await rendered('definitions=false')).map(({ kind }) => kind);
  expect(kinds).not.toContain('CustomResourceDefinition');
  expect(kinds).toContain('Deployment');
});

const ROOT = join(CHART, '..', '..');
const added = async (...values: string[]): Promise<KubeObject[]> => {
  const usual = new Set((await rendered()).map(nameOf));
  return (await rendered(...values)).filter((object) => !usual.has(nameOf(object)));
};

test('what is for those who look at it comes only when it is asked for', async () => {
  const names = async (...values: string[]): Promise<string[]> => (await added(...values)).map(nameOf);
  const inside = (kind: string, name: string): string => `${kind}/${NAMESPACE}/${name}`;
  expect(await names('monitoring.serviceMonitor=true')).toEqual([
    'ClusterRoleBinding//quorate-metrics',
    inside('Service', 'quorate-metrics'),
    inside('ServiceMonitor', 'quorate'),
  ]);
  expect(await names('monitoring.alerts=true')).toEqual([inside('PrometheusRule', 'quorate')]);
  expect(await names('monitoring.dashboard=true')).toEqual([inside('ConfigMap', 'quorate-dashboard')]);
  expect(await names('aggregatedRoles=true')).toEqual(['ClusterRole//quorate-edit', 'ClusterRole//quorate-view']);
});

test('the Service for metrics has the pods, and they the port, of what is scraped', async () => {
  const objects = await rendered('monitoring.serviceMonitor=true', 'scheduler=true', 'monitoring.labels.release=prom');
  for (const app of ['quorate', 'quorate-scheduler']) {
    const of = (kind: string, name: string) => objects.find((one) => one.kind === kind && one.metadata.name === name);
    const monitor = of('ServiceMonitor', app);
    const service = of('Service', `${app}-metrics`) as { metadata: KubeObject['metadata']; spec: { selector: object } };
    const pods = of('Deployment', app) as unknown as { spec: { template: { metadata: object; spec: object } } };
    expect(monitor?.metadata.labels).toMatchObject({ release: 'prom' });
    // Else Prometheus puts the replica's namespace in the place of the budget's.
    expect(monitor).toMatchObject({ spec: { endpoints: [{ honorLabels: true }] } });
    expect(service.metadata.labels).toMatchObject(
      (monitor as unknown as { spec: { selector: { matchLabels: object } } }).spec.selector.matchLabels,
    );
    expect(pods.spec.template.metadata).toMatchObject({ labels: service.spec.selector });
    expect(pods.spec.template.spec).toMatchObject({
      containers: [{ ports: expect.arrayContaining([{ name: 'metrics', containerPort: 8080 }]) }],
    });
  }
});

test('network policies select the pods of their Deployment, and open the ports that these serve and no other', async () => {
  const objects = await rendered('scheduler=true', 'webhookFrom={10.0.0.0/24,172.18.0.0/16}');
  const find = (kind: string, name: string) =>
    objects.find((one) => one.kind === kind && one.metadata.name === name) as unknown as { spec: Spec };
  const cidrs = ['10.0.0.0/24', '172.18.0.0/16'].map((cidr) => ({ ipBlock: { cidr } }));
  for (const [app, froms] of [
    ['quorate', [cidrs, undefined]],
    ['quorate-scheduler', [undefined]],
  ] as const) {
    const { ingress = [], podSelector, policyTypes } = find('NetworkPolicy', app).spec;
    const { template } = find('Deployment', app).spec;
    expect(policyTypes).toEqual(['Ingress']);
    expect(template?.metadata.labels).toMatchObject(podSelector?.matchLabels ?? { none: 'selected' });
    const served = template?.spec.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name)) ?? [];
    expect(ingress.flatMap(({ ports }) => ports.map(({ port }) => port)).sort()).toEqual(served.sort());
    expect(ingress.map(({ from }) => from)).toEqual(froms);
  }
});

interface Spec {
  readonly podSelector?: { readonly matchLabels: Record<string, string> };
  readonly policyTypes?: readonly string[];
  readonly ingress?: readonly { readonly ports: readonly { port: string }[]; readonly from?: readonly object[] }[];
  readonly template?: {
    readonly metadata: { readonly labels: object };
    readonly spec: { readonly containers: readonly { readonly ports?: readonly { readonly name: string }[] }[] };
  };
}

test('every alert has a runbook, every runbook an alert, and the text of an alert names its labels', async () => {
  const [rule] = await added('monitoring.alerts=true', 'monitoring.drainBlockedMinutes=7');
  const { groups } = (rule as unknown as { spec: { groups: { rules: Rule[] }[] } }).spec;
  const rules = groups.flatMap((group) => group.rules);
  expect(rules.map(({ alert }) => alert)).toEqual(ALERTS.map(({ name }) => name));
  const pages = readdirSync(join(ROOT, 'docs', 'runbooks')).map((file) => file.replace(/\.md$/, ''));
  expect(pages.sort()).toEqual(rules.map(({ alert }) => alert).sort());
  for (const { alert, annotations, labels } of rules) {
    expect(annotations.runbook_url).toMatch(new RegExp(`/docs/runbooks/${alert}\\.md$`));
    expect(readFileSync(join(ROOT, 'docs', 'runbooks', `${alert}.md`), 'utf8')).toMatch(`# ${alert}\n`);
    expect(['warning', 'critical']).toContain(labels.severity);
  }
  expect(rules[0]).toMatchObject({
    expr: 'max by (namespace, budget) (quorate_budget_refused_seconds) > 60 * 7',
    annotations: {
      summary: expect.stringContaining('Budget {{ $labels.namespace }}/{{ $labels.budget }} has refused'),
    },
  });
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly runbook_url: string; readonly summary: string };
}

test('the chart is packaged with its schema, its test and its dashboard', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-chart-'));
  try {
    const printed = await helm('package', CHART, '--destination', folder);
    const { stdout } = await promisify(execFile)('tar', ['tzf', printed.trim().replace(/^.*: /, '')]);
    for (const path of ['values.schema.json', 'templates/tests/answers.yaml', 'dashboards/quorate.json', 'README.md'])
      expect(stdout).toContain(`quorate/${path}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

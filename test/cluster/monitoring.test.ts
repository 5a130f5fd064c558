/** The dashboard and the alerts of the chart, held against the pages that a replica and an API server really serve. */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALERTS } from '../../scripts/monitoring/alerts.ts';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { silentLogger } from '../../src/machinery/runtime/index.ts';
import type { WhyRefused } from '../../src/webhook/judged.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { budget, budgetsOn, gangs, pod } from './gangs.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost;
let operator: Operator | undefined;
let samples: readonly Sample[];
const { shows } = budgetsOn(() => plane);

beforeAll(async () => {
  plane = await stage.startPlane({ components: ['kube-controller-manager'] });
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 1 } });
  await stage.prepareCluster(plane);
  operator = await stage.startReplica(plane, 'only', 'adopt', { metricsOpen: true, settlingMs: 1 });
  await stage.registerWebhooks(plane, operator, stage.groupKinds, 'adopt');
  samples = [...(await pageOfReplica(operator)), ...(await pageOfApiServer(operator))];
});
afterAll(async () => {
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

function read(page: string): Sample[] {
  return [...page.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)].map(([, name = '', inside = '']) => ({
    name,
    labels: Object.fromEntries([...inside.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value])),
  }));
}

/** After a grant, one that is not carried out, a refusal, a request that was not believed, and a budget whose groups are nowhere. */
async function pageOfReplica({ metricsPort, webhookPort }: Operator): Promise<Sample[]> {
  await stage.apply(plane, ...gangs('watched', 2, 2), budget('watched', { maxUnavailable: 1 }));
  await shows('watched', '4/4/2/2');
  expect(await stage.evict(plane, 'watched-g0-0')).toBe('granted');
  expect(await stage.evict(plane, 'watched-g1-0')).toContain('disruption budget');
  await grantInVain('watched-g0-1');
  await new Promise<void>((resolve, reject) => {
    const address = { host: '127.0.0.1', port: webhookPort, path: '/forged', method: 'POST' };
    request({ ...address, rejectUnauthorized: false, agent: false }, (response) => {
      response.resume().on('end', () => resolve());
    })
      .on('error', reject)
      .end();
  });
  const lost = { schedulingGroup: { podGroupName: 'nowhere' } };
  await stage.apply(plane, pod('lost-0', 'lost', lost), budget('lost', { maxUnavailable: 1 }));
  let page: Sample[] = [];
  await stage.until('the budget without groups to count pods', async () => {
    page = read(await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text());
    return page.some(({ name }) => name === 'quorate_fallback_to_pods');
  });
  return page;
}

/** Somebody else's webhook cannot be reached: the eviction is granted by ours, and not carried out. */
async function grantInVain(name: string): Promise<void> {
  const webhook = {
    name: 'evictions.example.com',
    clientConfig: { url: 'https://127.0.0.1:1/' },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] }],
    failurePolicy: 'Fail',
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  await stage.apply(plane, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'others' },
    webhooks: [webhook],
  });
  await stage.until('the other webhook to be asked', async () =>
    (await stage.evict(plane, name, { dryRun: true })).includes(webhook.name),
  );
  expect(await stage.evict(plane, name)).toContain(webhook.name);
  await stage.kubectl(plane, 'delete', 'validatingwebhookconfiguration', 'others');
}

/** After a status that nobody looked at, and an eviction that failed, because no replica was there. */
async function pageOfApiServer(replica: Operator): Promise<Sample[]> {
  await replica.stop();
  operator = undefined;
  await stage.kubectl(plane, 'annotate', 'pdb', 'watched', 'note=1');
  expect(await stage.evict(plane, 'watched-g1-0')).toContain('failed calling webhook');
  let page: Sample[] = [];
  await stage.until('the status to be let pass', async () => {
    page = read(await stage.kubectl(plane, 'get', '--raw', '/metrics'));
    return page.some(({ name }) => name === 'apiserver_admission_webhook_fail_open_count');
  });
  return page;
}

/** Added by Prometheus, which knows where a page came from. */
const OF_TARGET = new Set(['job', 'pod', 'instance']);
const WORDS = new Set('max min sum count rate histogram_quantile and or absent time vector label_values'.split(' '));
/** A matcher with what did not happen here, and cannot be misspelt. */
const DID_NOT_HAPPEN: readonly WhyRefused[] = ['Unavailable'];

interface Query {
  readonly from: string;
  readonly expression: string;
  /** Labels that its text names. */
  readonly named: readonly string[];
}

function problemsOf({ expression, from, named }: Query): string[] {
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].map(([, labels = '']) => labels.split(', '));
  const bare = expression.replace(/\b(by|on) ?\([^)]*\)/g, '').replace(/\[[\w$]+\]/g, '');
  const found = [...bare.matchAll(/([a-z_]+)(?:\{([^}]*)\})?/g)].filter(([, name = '']) => !WORDS.has(name));
  const problems = found.length === 0 ? ['names no series'] : [];
  for (const labels of grouped) {
    const lost = named.filter((label) => !labels.includes(label));
    if (lost.length > 0) problems.push(`its text names ${lost.join(', ')}, which the query drops`);
  }
  for (const [, name = '', inside = ''] of found) {
    const matchers = [...inside.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)];
    const wanted = [...grouped.flat(), ...named, ...matchers.map(([, label = '']) => label)];
    const series = samples.filter((one) => one.name === name);
    const matching = series.filter(({ labels }) =>
      matchers.every(([, label = '', how, value = '']) => {
        const pattern = new RegExp(`^(?:${value.replace(/^\$\w+$/, '.*')})$`);
        const isKnown = OF_TARGET.has(label) || DID_NOT_HAPPEN.some((one) => one === value) || how?.startsWith('!');
        return isKnown === true || pattern.test(labels[label] ?? '');
      }),
    );
    if (series.length === 0) problems.push(`${name} is not served`);
    else if (matching.length === 0) problems.push(`no series is ${name}{${inside}}`);
    for (const label of wanted) {
      if (!OF_TARGET.has(label) && matching.some(({ labels }) => !(label in labels)))
        problems.push(`${name} has no label ${label}`);
    }
  }
  return problems.map((problem) => `${from}: ${problem}`);
}

const labelsIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, label = '']) => label);

test('HL-03: every query of the dashboard finds series with the labels that it names', () => {
  const path = join(import.meta.dirname, '..', '..', 'deploy', 'chart', 'dashboards', 'quorate.json');
  const dashboard = JSON.parse(readFileSync(path, 'utf8')) as Dashboard;
  const queries = dashboard.panels.flatMap(({ targets, title }) =>
    targets.map(({ expr, legendFormat }) => ({
      from: title,
      expression: expr,
      named: labelsIn(legendFormat, /\{\{(\w+)\}\}/g),
    })),
  );
  expect(queries.length).toBeGreaterThan(20);
  expect(queries.flatMap(problemsOf)).toEqual([]);
  const variables = dashboard.templating.list.filter(({ type }) => type === 'query');
  expect(variables.map(({ name }) => name)).toEqual(['namespace', 'budget']);
  for (const { name, query } of variables) {
    const [, series = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(query) ?? [];
    expect(problemsOf({ from: name, expression: series, named: [label] })).toEqual([]);
  }
});

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly query: string }[];
  };
}

test.each(ALERTS.map(({ expression, name, summary }) => [name, expression, summary] as const))(
  'HL-03: the alert %s finds series with the labels that it names',
  (name, expression, summary) => {
    const named = labelsIn(summary, /\$labels\.(\w+)/g);
    expect(problemsOf({ from: name, expression: expression.replace(/\{\{.*?\}\}/g, '5'), named })).toEqual([]);
  },
);

test('HL-03: a query for what is not served is found out', () => {
  const query = (expression: string, ...named: string[]) => problemsOf({ from: 'x', expression, named });
  expect(query('sum(quorate_nothing)')).toEqual(['x: quorate_nothing is not served']);
  expect(query('max by (budget) (quorate_leader)')).toEqual(['x: quorate_leader has no label budget']);
  expect(query('quorate_eviction_reviews_total{result="grantd"}')).toEqual([
    'x: no series is quorate_eviction_reviews_total{result="grantd"}',
  ]);
  expect(query('sum by (result) (quorate_eviction_reviews_total)', 'reason')).toEqual([
    'x: its text names reason, which the query drops',
  ]);
});

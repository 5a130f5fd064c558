/** `quorate plan drain` on a cluster with two gangs over three nodes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedHost } from '../../src/app/index.ts';
import { planClusterDrain, PlanRequestError } from '../../src/tasks/index.ts';
import { formatPlan, formatPlanMermaid } from '../../src/cli/shared/plan-text.ts';
import { startHost } from './host.ts';
import { createKubectl, type Kubectl } from './kubectl.ts';

let host: EmbeddedHost;
let kubectl: Kubectl;
const request = { selector: undefined, all: false, nodesReturn: false, now: Date.now() };

beforeAll(async () => {
  host = await startHost({ nodes: 3 });
  kubectl = createKubectl(host.kubeconfig);
  const pod = (group: string, index: number, nodeName: string) => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: `${group}-${index}`, labels: { app: 'train' } },
    spec: { nodeName, schedulingGroup: { podGroupName: group }, containers: [{ name: 'c', image: 'train' }] },
  });
  const group = (name: string) => ({
    apiVersion: 'scheduling.k8s.io/v1beta1',
    kind: 'PodGroup',
    metadata: { name },
    spec: { schedulingPolicy: { gang: { minCount: 2 } } },
  });
  const budget = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'train' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'train' } } },
  };
  const items = [
    group('a'),
    group('b'),
    budget,
    ...['a', 'b'].flatMap((name) => [pod(name, 0, 'node-0'), pod(name, 1, 'node-1')]),
  ];
  await kubectl.run(['apply', '-f', '-'], { stdin: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
  await kubectl.run(['wait', '--for=condition=Ready', 'pod', '--all', '--timeout=120s']);
  await kubectl.run(['wait', '--for=jsonpath={.status.disruptionsAllowed}=1', 'pdb/train', '--timeout=120s']);
}, 300_000);
afterAll(async () => {
  kubectl?.close();
  await host?.stop();
});

test('planClusterDrain() moves each gang once, one after the other', async () => {
  const planned = await planClusterDrain(host.client, { ...request, nodes: ['node-0', 'node-1'] });
  expect(planned.plan).toMatchObject({ disruptions: 2, lowerBound: 2, hitAgain: 0, blocked: [] });
  expect(planned.plan.steps).toHaveLength(2);
  expect(planned.naive.disruptions).toBeGreaterThan(2);
  const text = formatPlan(planned);
  expect(text).toContain('Draining 2 nodes in 2 steps:');
  expect(text).toContain('2 disruptions, none of them twice; no plan has fewer than 2.');
  expect(formatPlanMermaid(planned)).toMatch(/^flowchart LR\n {2}s1\["step 1<br\/>down: /);
});

test('planClusterDrain() refuses a node that is not there in one clear line', async () => {
  const asked = planClusterDrain(host.client, { ...request, nodes: ['node-9'] });
  await expect(asked).rejects.toThrow(
    new PlanRequestError('Cannot plan: no such node: node-9; kubectl get nodes lists them'),
  );
});

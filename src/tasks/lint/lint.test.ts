import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/resource.ts';
import { lintManifests } from './lint.ts';

const set = (apiVersion: string, spec: object, annotations: Record<string, string> = {}): KubeObject =>
  ({
    apiVersion,
    kind: 'LeaderWorkerSet',
    metadata: { name: 'llm', namespace: 'default', annotations },
    spec: { replicas: 3, ...spec },
  }) as KubeObject;

const template = { metadata: { labels: { app: 'llm' } }, spec: { containers: [{ name: 'c' }] } };
const budget = (maxUnavailable: number): KubeObject =>
  ({
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'llm', namespace: 'default' },
    spec: {
      maxUnavailable,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: { app: 'llm' } },
    },
  }) as KubeObject;
const rules = (...objects: KubeObject[]): string[] => lintManifests(objects).findings.map(({ rule }) => rule);

const canonical = (more: object = {}) =>
  set('leaderworkerset.x-k8s.io/v1', { leaderWorkerTemplate: { size: 3, workerTemplate: template }, ...more });
const kruise = (gang: string) =>
  set('apps.kruise.io/v1alpha1', { workerTemplate: template }, { 'scheduling.quorate.dev/gang': gang });

test('lintManifests() sees the gangs that a LeaderWorkerSet asks for: a budget counts them by itself', () => {
  expect(rules(canonical(), budget(1))).toEqual(['group-counted-as-pods']);
  expect(rules(canonical({ scheduling: {} }), budget(1))).toEqual([]);
  expect(rules(kruise('false'), budget(1))).toEqual(['group-counted-as-pods']);
  expect(rules(kruise('true'), budget(1))).toEqual([]);
  expect(rules(kruise('true'), budget(0))).toEqual(['never-allows-drain']);
});

const objectOf = (apiVersion: string, kind: string, spec: object): KubeObject =>
  ({ apiVersion, kind, metadata: { name: 'a', namespace: 'default' }, spec }) as KubeObject;
const selector = { matchLabels: { app: 'a' } };
const found = (object: KubeObject): string[] =>
  lintManifests([object])
    .findings.filter(({ rule }) => /^(unknown|removed)/.test(rule))
    .map(({ message, path, rule }) => `${rule} ${path}: ${message}`);

test.each([
  [
    objectOf('policy/v1', 'PodDisruptionBudget', { minAvailble: 1, selector }),
    ['unknown-field spec.minAvailble: PodDisruptionBudget has no field minAvailble there (did you mean minAvailable?)'],
  ],
  [
    objectOf('policy.kruise.io/v1beta1', 'PodUnavailableBudget', { selector, podGroupPolicy: { groupLabelkey: 'a' } }),
    [
      'unknown-field spec.podGroupPolicy.groupLabelkey: PodUnavailableBudget has no field groupLabelkey there (did you mean groupLabelKey?)',
    ],
  ],
  [
    objectOf('v1', 'Pod', {
      containers: [{ name: 'c', image: 'i', resources: { limits: { 'a.b/c': 1 } }, colour: 'red' }],
    }),
    ['unknown-field spec.containers[0].colour: Pod has no field colour there'],
  ],
  [
    objectOf('policy/v1beta1', 'PodDisruptionBudget', { minAvailable: 1, selector }),
    [
      'removed-api-version apiVersion: PodDisruptionBudget is not served in policy/v1beta1 since Kubernetes 1.25; use policy/v1',
    ],
  ],
  [
    objectOf('apps/v1', 'Deploymnt', {}),
    ['unknown-kind kind: there is no kind Deploymnt in apps/v1 (did you mean Deployment?)'],
  ],
  [objectOf('example.com/v1', 'Whatever', { any: 'thing' }), []],
])('lintManifests() names what the API does not know, and the near name: %#', (object, want) => {
  expect(found(object)).toEqual(want);
});

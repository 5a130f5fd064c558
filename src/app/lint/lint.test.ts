import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/resource.ts';
import { lintManifests } from './index.ts';

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

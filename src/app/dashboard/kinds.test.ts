/** What the page is told has to be enough: it plans by the same functions, and must come to the same plan. */
import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/resource.ts';
import { Fleet, type MadePlan, makePlan } from '../../fleet/index.ts';
import { slim } from './kinds.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');
const PLACE = { cpu: '8', memory: '64Gi', pods: '20' };

const node = (name: string, more: object = {}, gpus = 0): KubeObject =>
  ({
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...more } },
    status: { allocatable: gpus > 0 ? { ...PLACE, 'nvidia.com/gpu': String(gpus) } : PLACE },
  }) as KubeObject;

const pod = (name: string, spec: object, gpus = 0): KubeObject =>
  ({
    kind: 'Pod',
    metadata: { name, namespace: 'ml', uid: name, labels: { app: name } },
    spec: {
      nodeName: 'from',
      containers: [{ name: 'c', resources: gpus > 0 ? { requests: { 'nvidia.com/gpu': String(gpus) } } : {} }],
      ...spec,
    },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  }) as KubeObject;

const required = (key: string) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }],
    },
  },
});

const cases: Readonly<Record<string, readonly [where: object, gpus?: number]>> = {
  'with GPUs': [{}, 4],
  'with a node selector': [{ nodeSelector: { pool: 'a' } }],
  'with affinity': [{ affinity: required('pool') }],
  'with a host port': [{ containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 80 }] }] }],
  'on the network of the host': [{ hostNetwork: true, containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] }],
  'with overhead': [{ overhead: { cpu: '9' } }],
  'with room asked for the pod as a whole': [{ resources: { requests: { cpu: '9' } } }],
};

function planOf(objects: readonly KubeObject[], through: (object: KubeObject) => KubeObject): MadePlan['plan'] {
  const fleet = new Fleet();
  for (const object of objects) fleet.set((object as { kind: string }).kind, through(object));
  fleet.settle(NOW);
  return makePlan(fleet, { nodes: new Set(['from']), nodesReturn: false }, NOW).plan;
}

for (const [name, [spec, gpus]] of Object.entries(cases)) {
  test(`22.1: a pod ${name} has somewhere to go on the page exactly where it has elsewhere`, () => {
    const taken = (spec as { hostNetwork?: boolean }).hostNetwork === true || 'containers' in spec;
    const beside = taken ? [pod('other', { ...spec, nodeName: 'to' })] : [];
    for (const to of [node('to'), node('to', { pool: 'a' }, 8)]) {
      const objects = [node('from', { pool: 'a' }, 8), to, pod('one', spec, gpus), ...beside];
      expect(planOf(objects, (object) => slim(object) as KubeObject)).toEqual(planOf(objects, (object) => object));
    }
  });
}

test('22.1: what nobody needs to know stays behind: secrets by name, templates, what every pod is given', () => {
  const given = {
    key: 'node.kubernetes.io/not-ready',
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  };
  const volumes = [{ name: 's', secret: { secretName: 'password' } }];
  const told = JSON.stringify(slim(pod('one', { tolerations: [given], volumes, schedulerName: 'default-scheduler' })));
  expect(told).not.toMatch(/password|tolerations|scheduler/);
});

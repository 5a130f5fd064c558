import { expect, test } from 'vitest';
import type { Node, Pod } from '../../../api/generated/core-v1.ts';
import { cluster, facts, node, pod } from '../fixtures.ts';
import { findNode } from '../../gang/placement/find-node.ts';

const web = { app: 'web' };
const near = (labels: Record<string, string>, topologyKey = 'zone') => ({
  labelSelector: { matchLabels: labels },
  topologyKey,
});
const zone = (value: string) => ({ labels: { zone: value } });

interface Case {
  readonly name: string;
  readonly nodes: readonly Node[];
  readonly placed?: readonly (readonly [Pod, string])[];
  readonly pod: Pod;
  /** Node names that may be chosen, or the message. */
  readonly want: readonly string[] | string;
}

const cases: readonly Case[] = [
  {
    name: 'says when there are no nodes at all',
    nodes: [],
    pod: pod('p'),
    want: 'no nodes available to schedule pods',
  },
  {
    name: 'counts what is short on each node and sorts the reasons',
    nodes: [node('a', { cpu: 1 }), node('b', { cpu: 1, memory: '1Gi' }), node('c', { unschedulable: true })],
    pod: pod('p', { requests: { cpu: '2', memory: '2Gi' } }),
    want: '0/3 nodes are available: 1 Insufficient memory, 1 node(s) were unschedulable, 2 Insufficient cpu.',
  },
  {
    name: 'adds up what pods on the node take',
    nodes: [node('a', { cpu: 2 }), node('b', { cpu: 2 })],
    placed: [[pod('x', { cpu: '1500m' }), 'a']],
    pod: pod('p', { cpu: 1 }),
    want: ['b'],
  },
  {
    name: 'knows extended resources',
    nodes: [node('a'), node('b', { extended: { 'example.com/gpu': '4' } })],
    pod: pod('p', { requests: { 'example.com/gpu': '4' } }),
    want: ['b'],
  },
  {
    name: 'names the extended resource that is short',
    nodes: [node('a', { extended: { 'example.com/gpu': '4' } })],
    pod: pod('p', { requests: { 'example.com/gpu': '5' } }),
    want: '0/1 nodes are available: 1 Insufficient example.com/gpu.',
  },
  {
    name: 'counts pods',
    nodes: [node('a', { pods: 1 })],
    placed: [[pod('x'), 'a']],
    pod: pod('p'),
    want: '0/1 nodes are available: 1 Too many pods.',
  },
  {
    name: 'takes the hungriest init step and overhead into account',
    nodes: [node('a', { cpu: 2 })],
    pod: pod('p', {
      cpu: 1,
      initContainers: [{ name: 'i', image: 'i', resources: { requests: { cpu: '1900m' } } }],
      overhead: { cpu: '200m' },
    }),
    want: '0/1 nodes are available: 1 Insufficient cpu.',
  },
  {
    name: 'adds a sidecar to the containers beside it',
    nodes: [node('a', { cpu: 2 })],
    pod: pod('p', {
      cpu: '1500m',
      initContainers: [{ name: 's', image: 's', restartPolicy: 'Always', resources: { requests: { cpu: '600m' } } }],
    }),
    want: '0/1 nodes are available: 1 Insufficient cpu.',
  },
  {
    name: 'follows the node selector',
    nodes: [node('a'), node('b', { labels: { disk: 'ssd' } })],
    pod: pod('p', { nodeSelector: { disk: 'ssd' } }),
    want: ['b'],
  },
  {
    name: 'says so when no node has the selected label',
    nodes: [node('a')],
    pod: pod('p', { nodeSelector: { disk: 'ssd' } }),
    want: "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector.",
  },
  {
    name: 'follows required node affinity, any term of several',
    nodes: [node('a', { labels: { n: '1' } }), node('b', { labels: { n: '5' } }), node('c')],
    pod: pod('p', {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              { matchExpressions: [{ key: 'n', operator: 'Gt', values: ['3'] }] },
              { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['c'] }] },
            ],
          },
        },
      },
    }),
    want: ['b', 'c'],
  },
  {
    name: 'keeps away from taints it does not tolerate',
    nodes: [node('a', { taints: [{ key: 'k', value: 'v', effect: 'NoSchedule' }] })],
    pod: pod('p', { tolerations: [{ key: 'k', operator: 'Equal', value: 'w', effect: 'NoSchedule' }] }),
    want: '0/1 nodes are available: 1 node(s) had untolerated taint(s).',
  },
  {
    name: 'goes where its tolerations allow',
    nodes: [node('a', { taints: [{ key: 'k', value: 'v', effect: 'NoExecute' }] })],
    pod: pod('p', { tolerations: [{ key: 'k', operator: 'Exists' }] }),
    want: ['a'],
  },
  {
    name: 'refuses a host port that another pod has on every address',
    nodes: [node('a')],
    placed: [[pod('x', { hostPort: { port: 8080 } }), 'a']],
    pod: pod('p', { hostPort: { port: 8080, ip: '127.0.0.1' } }),
    want: "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.",
  },
  {
    name: 'allows one host port on two addresses or protocols',
    nodes: [node('a')],
    placed: [[pod('x', { hostPort: { port: 8080, ip: '10.0.0.1' } }), 'a']],
    pod: pod('p', { hostPort: { port: 8080, ip: '10.0.0.2' } }),
    want: ['a'],
  },
  {
    name: 'joins the pods it must be near',
    nodes: [node('a', zone('1')), node('b', zone('2'))],
    placed: [[pod('x', { labels: web }), 'b']],
    pod: pod('p', { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near(web)] } } }),
    want: ['b'],
  },
  {
    name: 'may be the first of those it must be near',
    nodes: [node('a', zone('1'))],
    pod: pod('p', {
      labels: web,
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near(web)] } },
    }),
    want: ['a'],
  },
  {
    name: 'says when nothing it must be near exists',
    nodes: [node('a', zone('1'))],
    pod: pod('p', { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near(web)] } } }),
    want: "0/1 nodes are available: 1 node(s) didn't match pod affinity rules.",
  },
  {
    name: 'avoids the domain of pods it must be away from',
    nodes: [node('a', zone('1')), node('b', zone('1')), node('c', zone('2'))],
    placed: [[pod('x', { labels: web }), 'a']],
    pod: pod('p', { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near(web)] } } }),
    want: ['c'],
  },
  {
    name: 'is refused by pods that must be away from it',
    nodes: [node('a', zone('1'))],
    placed: [
      [
        pod('x', { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near(web)] } } }),
        'a',
      ],
    ],
    pod: pod('p', { labels: web }),
    want: "0/1 nodes are available: 1 node(s) didn't satisfy existing pods anti-affinity rules.",
  },
  {
    name: 'does not look into other namespaces unless told',
    nodes: [node('a', zone('1'))],
    placed: [[pod('x', { labels: web, namespace: 'other' }), 'a']],
    pod: pod('p', { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near(web)] } } }),
    want: ['a'],
  },
  {
    name: 'keeps pods even over domains',
    nodes: [node('a', zone('1')), node('b', zone('2'))],
    placed: [[pod('x', { labels: web }), 'a']],
    pod: pod('p', {
      labels: web,
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: web } },
      ],
    }),
    want: ['b'],
  },
  {
    name: 'tells an uneven domain from a missing label',
    nodes: [node('a', zone('1')), node('b', { ...zone('2'), cpu: 0 }), node('c')],
    placed: [[pod('x', { labels: web }), 'a']],
    pod: pod('p', {
      cpu: 1,
      labels: web,
      topologySpreadConstraints: [
        { maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: web } },
      ],
    }),
    want: "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod topology spread constraints, 1 node(s) didn't match pod topology spread constraints (missing required label).",
  },
];

for (const { name, nodes, placed = [], pod: asked, want } of cases) {
  test(`findNode() ${name}`, () => {
    const made = cluster(nodes, placed);
    const { diagnosis, node: found } = findNode(facts(made, asked), made);
    if (typeof want === 'string') expect(diagnosis?.message).toBe(want);
    else expect(want).toContain(found?.name);
  });
}

test("findNode() follows the volume behind a pod's claim", () => {
  const made = cluster([node('a', zone('1')), node('b', zone('2'))]);
  const volume = {
    metadata: { name: 'v' },
    spec: {
      nodeAffinity: {
        required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['2'] }] }] },
      },
    },
  };
  made.volumes.known = true;
  made.volumes.setVolume(volume);
  made.volumes.setClaim({ metadata: { name: 'data', namespace: 'default' }, spec: { volumeName: 'v' } });
  const asked = (over: object) =>
    facts(made, pod('p', { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }], ...over }));
  expect(findNode(asked({}), made).node?.name).toBe('b');
  expect(findNode(asked({ nodeSelector: { zone: '1' } }), made).diagnosis?.message).toBe(
    "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) didn't match Pod's node affinity/selector.",
  );
});

test('findNode() keeps room that was promised to a more important pod', () => {
  const made = cluster([node('a', { cpu: 2 })]);
  const important = facts(made, pod('vip', { cpu: 2, priority: 10 }));
  made.nominate(important, 'a');
  expect(findNode(facts(made, pod('p', { cpu: 1 })), made).diagnosis?.message).toBe(
    '0/1 nodes are available: 1 Insufficient cpu.',
  );
  expect(findNode(important, made).node?.name).toBe('a');
  expect(findNode(facts(made, pod('q', { cpu: 1, priority: 11 })), made).node?.name).toBe('a');
});

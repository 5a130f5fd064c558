/** The filters, case by case: what one node says to one pod. */
import { expect, test } from 'vitest';
import type { Node, Pod, Toleration } from '../../../api/generated/core-v1.ts';
import { Cluster } from '../cluster/cluster.ts';
import { sumRequests, sumStanding } from '../cluster/resources.ts';
import { cluster, facts, node, pod, type PodOptions } from '../fixtures.ts';
import { fitsAnywhere, fitsOn } from './fits.ts';
import { tellAnswer } from './texts.ts';
import { refusals, passing, zone, box, GPU, cpu, affinity, expression } from './filters.fixture.ts';

const containers = (spec: object): Pod => ({
  metadata: { name: 'p', namespace: 'default', uid: 'p' },
  spec: { containers: [], ...spec },
});

test('FT-01 and FT-02: cpu to the last thousandth; what no node could ever have is not resolvable', () => {
  const made = cluster([node('n1', { cpu: 2 })], [[pod('there', { cpu: '1500m' }), 'n1']]);
  expect(passing(made, pod('p', { cpu: '500m' }))).toEqual(['n1']);
  const [short] = refusals(made, pod('p', { cpu: '501m' }), 'n1');
  expect(short).toMatchObject({ filter: 'NodeResourcesFit', resource: 'cpu', asked: 501, free: 500 });
  const answer = fitsOn(facts(made, pod('p', { cpu: '501m' })), 'n1', made);
  expect(answer.fits === false && answer.refusals[0]?.resolvable).toBe(true);
  const large = fitsOn(
    facts(cluster([node('n1', { cpu: 2 })]), pod('p', { cpu: 3 })),
    'n1',
    cluster([node('n1', { cpu: 2 })]),
  );
  expect(large.fits === false && large.refusals[0]?.resolvable).toBe(false);
});

test('FT-03: without allocatable a node has its capacity, without both nothing', () => {
  const bare = (status: Node['status']): Node => ({
    metadata: { name: 'n1' },
    status: { ...status, conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const made = cluster([bare({ capacity: { cpu: '4', pods: '10' } })]);
  expect(passing(made, pod('p', { cpu: 4 }))).toEqual(['n1']);
  const [first] = refusals(cluster([bare({})]), pod('p', { cpu: 4 }), 'n1');
  expect(first).toMatchObject({ resource: 'pods', asked: 1, free: 0 });
});

test('FT-04: extended resources are counted', () => {
  const made = cluster([node('n1', { extended: { [GPU]: '4' } })]);
  const asked = (name: string) => pod(name, { requests: { [GPU]: '4' } });
  expect(passing(made, asked('p'))).toEqual(['n1']);
  made.place(facts(made, asked('p')), 'n1');
  expect(refusals(made, asked('q'), 'n1')).toMatchObject([{ resource: GPU, asked: 4, free: 0 }]);
});

test('FT-05: nothing of what nobody has is no shortage, one is', () => {
  const made = cluster([node('n1')]);
  expect(passing(made, pod('p', { requests: { 'example.com/tpu': '0' } }))).toEqual(['n1']);
  const answer = fitsAnywhere(facts(made, pod('p', { requests: { 'example.com/tpu': '1' } })), made);
  expect(tellAnswer(answer)).toBe('NoRoom: 1 × example.com/tpu; no node that stays has any');
});

test('FT-06: an over-committed node takes what asks for none of it', () => {
  const made = cluster([node('n1', { cpu: 1 })], [[pod('there', { cpu: '1500m' }), 'n1']]);
  expect(passing(made, pod('p', { cpu: 0, requests: { memory: '1Gi' } }))).toEqual(['n1']);
  expect(passing(made, pod('p', { cpu: '1m' }))).toEqual([]);
});

test('FT-07: a pod that terminates holds its slot until it is gone', () => {
  const made = cluster(
    [node('n1', { pods: 3 })],
    [
      [pod('a'), 'n1'],
      [pod('b'), 'n1'],
      [pod('c', { deleting: true }), 'n1'],
    ],
  );
  expect(refusals(made, pod('p'), 'n1')).toMatchObject([{ resource: 'pods', asked: 1, free: 0 }]);
  made.remove('default/c');
  expect(passing(made, pod('p'))).toEqual(['n1']);
});

test('FT-08: sums are rounded once', () => {
  const made = cluster([node('n1', { memory: '1' })]);
  const half = box({ memory: '500m' });
  expect(passing(made, containers({ containers: [half, { ...half, name: 'other' }] }))).toEqual(['n1']);
});

test('FT-09 and FT-10: hugepages by size, ephemeral storage, and names that are no resource of nodes', () => {
  const made = cluster([
    node('n1', { extended: { 'hugepages-2Mi': '32Mi', 'hugepages-1Gi': '4Gi', 'ephemeral-storage': '8Gi' } }),
  ]);
  expect(passing(made, pod('p', { requests: { 'hugepages-2Mi': '64Mi' } }))).toEqual([]);
  const disk = fitsOn(facts(made, pod('p', { requests: { 'ephemeral-storage': '10Gi' } })), 'n1', made);
  expect(disk.fits === false && disk.refusals[0]?.resolvable).toBe(false);
  expect(passing(made, pod('p', { requests: { storage: '5Gi' } }))).toEqual(['n1']);
});

const sidecar = { restartPolicy: 'Always' };

const totals: [string, object, Record<string, number>][] = [
  ['1', { containers: [cpu('1'), cpu('0.5')], initContainers: [cpu('1.9')], overhead: { cpu: '0.2' } }, { cpu: 2100 }],
  [
    '2',
    { containers: [cpu('0.8')], initContainers: [cpu('0.6', sidecar), cpu('1'), cpu('0.3', sidecar)] },
    { cpu: 1700 },
  ],
  ['3', { containers: [cpu('0.8')], initContainers: [cpu('2'), cpu('0.6', sidecar)] }, { cpu: 2000 }],
  ['4', { containers: [cpu('0.8')], initContainers: [cpu('0.6', sidecar), cpu('2')] }, { cpu: 2600 }],
  [
    '5',
    { containers: [cpu('0.8'), cpu('0.7')], resources: { requests: { cpu: '2' } }, overhead: { cpu: '0.1' } },
    { cpu: 2100 },
  ],
  [
    '6',
    {
      containers: [box({ cpu: '0.8', [GPU]: '1' }), box({ cpu: '0.7', [GPU]: '1' })],
      initContainers: [box({ [GPU]: '4' })],
      resources: { requests: { memory: '1Gi' } },
    },
    { cpu: 1500, [GPU]: 4, memory: 1024 ** 3 },
  ],
];

test.each(totals)('FT-11: worked example %s of what a pod asks for', (_, spec, want) => {
  expect(Object.fromEntries(sumRequests(containers(spec)))).toEqual(want);
});

test('FT-12: pod-level requests name only what they may', () => {
  const spec = { containers: [box({ [GPU]: '1' }), box({ [GPU]: '1' })], resources: { requests: { [GPU]: '1' } } };
  expect(sumRequests(containers(spec)).get(GPU)).toBe(2);
});

const resized = (given: object, conditions: object[] = []): Pod =>
  ({
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '2' } } }] },
    status: { containerStatuses: [{ name: 'c', ...given }], conditions },
  }) as unknown as Pod;

test('FT-13 and FT-14: a pod that is resized in place takes the most of what it asks for, was given and has', () => {
  const given = { allocatedResources: { cpu: '1' }, resources: { requests: { cpu: '1500m' } } };
  expect(sumStanding(resized(given)).get('cpu')).toBe(2000);
  const infeasible = [{ type: 'PodResizePending', reason: 'Infeasible', status: 'True' }];
  expect(sumStanding(resized(given, infeasible)).get('cpu')).toBe(1500);
  expect(sumStanding(resized({ allocatedResources: { cpu: '3' } })).get('cpu')).toBe(2000);
});

const chosen: [string, Node[], PodOptions, string[]][] = [
  [
    'FT-16: terms are alternatives',
    [node('a', { labels: { n: '1' } }), node('b', { labels: { n: '5' } }), node('c')],
    affinity(expression('n', 'Gt', '3'), { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['c'] }] }),
    ['b', 'c'],
  ],
  [
    'FT-17: Gt needs a number',
    [node('a', { labels: { n: 'x' } }), node('b')],
    affinity(expression('n', 'Gt', '3')),
    [],
  ],
  ['FT-17: Lt of a negative', [node('a', { labels: { n: '-1' } })], affinity(expression('n', 'Lt', '3')), ['a']],
  ['FT-18: NotIn holds without the label', [node('a')], affinity(expression('zone', 'NotIn', 'a')), ['a']],
  ['FT-18: DoesNotExist', [node('a')], affinity(expression('zone', 'DoesNotExist')), ['a']],
  ['FT-19: an empty term matches nothing', [node('a')], affinity({}), []],
  [
    'FT-19: beside one that matches',
    [node('a', zone('a')), node('b')],
    affinity({}, expression('zone', 'In', 'a')),
    ['a'],
  ],
  [
    'FT-20: selector and affinity must both hold',
    [node('a', { labels: { pool: 'gpu', zone: 'b' } })],
    { nodeSelector: { pool: 'gpu' }, ...affinity(expression('zone', 'In', 'a')) },
    [],
  ],
];

test.each(chosen)('%s', (_, nodes, options, want) => {
  expect(passing(cluster(nodes), pod('p', options))).toEqual(want);
});

const taint = (effect: string, value?: string) => ({ key: 'k', effect, ...(value && { value }) });

const tolerated: [string, object, Toleration[], boolean][] = [
  ['FT-21: another value', taint('NoSchedule', 'v'), [{ key: 'k', operator: 'Equal', value: 'w' }], false],
  ['FT-21: Exists', taint('NoSchedule', 'v'), [{ key: 'k', operator: 'Exists' }], true],
  ['FT-21: Exists without a key', taint('NoSchedule', 'v'), [{ operator: 'Exists' }], true],
  ['FT-22: another effect', taint('NoExecute'), [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }], false],
  ['FT-22: advice only', taint('PreferNoSchedule'), [], true],
];

test.each(tolerated)('%s', (_, one, tolerations, want) => {
  const made = cluster([node('a', { taints: [one as never] })]);
  expect(passing(made, pod('p', { tolerations })).length > 0).toBe(want);
});

test('FT-23: tolerations that compare need their gate, and canonical numbers', () => {
  const asked = pod('p', { tolerations: [{ key: 'level', operator: 'Gt', value: '3' }] });
  const on = (value: string, taintComparison: boolean): number => {
    const made = new Cluster({ taintComparison });
    made.setNode(node('a', { taints: [{ key: 'level', value, effect: 'NoSchedule' }] }));
    return passing(made, asked).length;
  };
  expect([on('5', false), on('5', true), on('05', true)]).toEqual([0, 1, 0]);
});

test('FT-24: a cordon is tolerated like its taint, whether the taint is there or not', () => {
  const made = cluster([node('a', { unschedulable: true })]);
  const key = 'node.kubernetes.io/unschedulable';
  expect(passing(made, pod('p', { tolerations: [{ key, operator: 'Exists' }] }))).toEqual(['a']);
  expect(passing(made, pod('p', { tolerations: [{ key, operator: 'Equal', value: 'x' }] }))).toEqual([]);
});

test('FT-25: a node that is not ready counts as tainted for it', () => {
  const lost = { ...node('a'), status: { ...node('a').status, conditions: [{ type: 'Ready', status: 'Unknown' }] } };
  const made = cluster([lost as Node]);
  expect(refusals(made, pod('p'), 'a')).toEqual([{ filter: 'NodeNotReady' }]);
  const tolerations = [{ key: 'node.kubernetes.io/unreachable', operator: 'Exists' }];
  expect(passing(made, pod('p', { tolerations }))).toEqual(['a']);
});

test('FT-26: host ports clash by protocol, port and address', () => {
  const made = cluster([node('a')], [[pod('there', { hostPort: { port: 8080, ip: '10.0.0.1' } }), 'a']]);
  expect(passing(made, pod('p', { hostPort: { port: 8080, ip: '10.0.0.2' } }))).toEqual(['a']);
  expect(refusals(made, pod('p', { hostPort: { port: 8080 } }), 'a')).toMatchObject([
    { filter: 'NodePorts', port: 8080, holder: 'default/there' },
  ]);
  expect(passing(made, pod('p', { hostPort: { port: 8080, protocol: 'UDP' } }))).toEqual(['a']);
});

test('FT-27: a plain init container takes no host port, a sidecar does', () => {
  const ports = [{ containerPort: 80, hostPort: 8080 }];
  const there = (more: object) =>
    pod('there', { initContainers: [{ name: 'i', image: 'i', ports, ...more }] as never });
  const asked = pod('p', { hostPort: { port: 8080 } });
  expect(passing(cluster([node('a')], [[there({}), 'a']]), asked)).toEqual(['a']);
  expect(passing(cluster([node('a')], [[there(sidecar), 'a']]), asked)).toEqual([]);
});

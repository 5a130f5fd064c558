/** The filters, case by case: what one node says to one pod. */
import { expect, test } from 'vitest';
import type { Node, Pod, Toleration } from '../../../api/generated/core-v1.ts';
import type { ResourceSlice } from '../../../api/generated/resource-v1.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import { podFacts } from '../cluster/pod-facts.ts';
import { sumRequests, sumStanding } from '../cluster/resources.ts';
import type { Constraint } from '../filters/constraint.ts';
import { cluster, facts, node, pod, type PodOptions } from '../fixtures.ts';
import { fitsAnywhere, fitsGroup, fitsOn } from './fits.ts';
import { tellAnswer } from './texts.ts';

const refusals = (made: Cluster, asked: Pod, on: string): Constraint[] => {
  const answer = fitsOn(facts(made, asked), on, made);
  return answer.fits ? [] : answer.refusals.map(({ constraint }) => constraint);
};
const passing = (made: Cluster, asked: Pod): string[] =>
  made.nodes
    .map(({ name }) => name)
    .filter((name) => refusals(made, asked, name).length === 0)
    .sort();
const zone = (value: string) => ({ labels: { zone: value } });
const web = { labels: { app: 'web' } };
const containers = (spec: object): Pod => ({
  metadata: { name: 'p', namespace: 'default', uid: 'p' },
  spec: { containers: [], ...spec },
});
const box = (requests: Record<string, string>, more: object = {}) => ({
  name: `c${Math.abs(JSON.stringify([requests, more]).length)}`,
  image: 'i',
  resources: { requests },
  ...more,
});
const GPU = 'nvidia.com/gpu';

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
const cpu = (amount: string, more: object = {}) => box({ cpu: amount }, more);
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

const affinity = (...terms: object[]): PodOptions =>
  ({
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
  }) as PodOptions;
const expression = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
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

const term = (key: string, labels: Record<string, string> | undefined, more: object = {}) => ({
  topologyKey: key,
  ...(labels && { labelSelector: { matchLabels: labels } }),
  ...more,
});
const near = (...terms: object[]): PodOptions =>
  ({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } }) as PodOptions;
const apart = (...terms: object[]): PodOptions =>
  ({ affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } }) as PodOptions;
const ab = () => [node('a', zone('a')), node('b', zone('b'))];

test('FT-28: affinity to a pod, also while it terminates, not when it is gone', () => {
  const asked = pod('p', near(term('zone', { app: 'web' })));
  for (const deleting of [false, true]) {
    expect(passing(cluster(ab(), [[pod('w', { ...web, deleting }), 'b']]), asked)).toEqual(['b']);
  }
  expect(passing(cluster(ab()), asked)).toEqual([]);
});

test('FT-29: a pod counts only if it meets all terms', () => {
  const made = cluster([node('a', { labels: { zone: 'a', rack: '1' } })], [[pod('w', web), 'a']]);
  expect(passing(made, pod('p', near(term('zone', { app: 'web' }), term('rack', { tier: 'x' }))))).toEqual([]);
});

test('FT-30: the first of its kind may go anywhere with the label', () => {
  const made = cluster([...ab(), node('c')]);
  expect(passing(made, pod('p', { ...web, ...near(term('zone', { app: 'web' })) }))).toEqual(['a', 'b']);
});

test('FT-31: anti-affinity by zone leaves other zones and nodes without one', () => {
  const made = cluster(
    [node('a1', zone('a')), node('a2', zone('a')), node('b', zone('b')), node('c')],
    [[pod('w', web), 'a1']],
  );
  expect(passing(made, pod('p', apart(term('zone', { app: 'web' }))))).toEqual(['b', 'c']);
});

test('FT-32: the anti-affinity of a pod that is there counts as well', () => {
  const made = cluster(ab(), [[pod('shy', apart(term('zone', { app: 'web' }))), 'a']]);
  expect(passing(made, pod('p', web))).toEqual(['b']);
  expect(refusals(made, pod('p', web), 'a')).toMatchObject([{ cause: 'ExistingAntiAffinity', holder: 'default/shy' }]);
});

test('FT-33: namespaces of a term', () => {
  const placed: [Pod, string][] = [
    [pod('w1', { ...web, namespace: 'ns1' }), 'a'],
    [pod('w2', { ...web, namespace: 'ns2' }), 'b'],
  ];
  const made = cluster([...ab(), node('c', zone('c'))], placed);
  made.namespaceLabels.set('ns1', { team: 'x' });
  const asked = (more: object) => passing(made, pod('p', apart(term('zone', { app: 'web' }, more))));
  expect(asked({ namespaceSelector: { matchLabels: { team: 'x' } } })).toEqual(['b', 'c']);
  expect(asked({ namespaceSelector: {} })).toEqual(['c']);
  expect(asked({})).toEqual(['a', 'b', 'c']);
});

test('FT-34: a term without a selector matches no pod', () => {
  const made = cluster(ab(), [[pod('w', web), 'a']]);
  expect(passing(made, pod('p', apart(term('zone', undefined))))).toEqual(['a', 'b']);
  expect(passing(made, pod('p', near(term('zone', undefined))))).toEqual([]);
});

test('FT-35: matchLabelKeys narrow a term to pods of the same value', () => {
  const old = pod('old', { labels: { app: 'web', 'pod-template-hash': '1' } });
  const made = cluster(ab(), [[old, 'a']]);
  const asked = (hash: string) =>
    pod('p', {
      labels: { app: 'web', 'pod-template-hash': hash },
      ...apart(term('zone', { app: 'web' }, { matchLabelKeys: ['pod-template-hash'] })),
    });
  expect(passing(made, asked('2'))).toEqual(['a', 'b']);
  expect(passing(made, asked('1'))).toEqual(['b']);
});

const spread = (more: object = {}): PodOptions => ({
  ...web,
  topologySpreadConstraints: [
    {
      topologyKey: 'zone',
      maxSkew: 1,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { app: 'web' } },
      ...more,
    },
  ],
});
const webs = (...on: string[]): [Pod, string][] => on.map((name, at) => [pod(`w${at}`, web), name]);
const abc = () => [...ab(), node('c', zone('c'))];

test('FT-36: spread by zone', () => {
  expect(passing(cluster(ab(), webs('a', 'a', 'b')), pod('p', spread()))).toEqual(['b']);
  expect(passing(cluster(abc(), webs('a', 'b')), pod('p', spread()))).toEqual(['c']);
});

test('FT-37: zones that the pod cannot choose count only where the rule says so', () => {
  const nodes = [
    node('a', { labels: { zone: 'a', p: '1' } }),
    node('b', { labels: { zone: 'b', p: '1' } }),
    node('c', zone('c')),
  ];
  const made = cluster(nodes, webs('a', 'b'));
  const asked = (policy: string) =>
    passing(made, pod('p', { ...spread({ nodeAffinityPolicy: policy }), nodeSelector: { p: '1' } }));
  expect(asked('Honor')).toEqual(['a', 'b']);
  expect(asked('Ignore')).toEqual([]);
});

test('FT-38: zones whose nodes are tainted count unless the rule says otherwise', () => {
  const nodes = [...ab(), node('c', { ...zone('c'), taints: [{ key: 'x', effect: 'NoSchedule' }] })];
  const made = cluster(nodes, webs('a', 'b'));
  expect(passing(made, pod('p', spread()))).toEqual([]);
  expect(passing(made, pod('p', spread({ nodeTaintsPolicy: 'Honor' })))).toEqual(['a', 'b']);
});

test('FT-39: with fewer domains than asked for, the least is none', () => {
  const asked = pod('p', spread({ minDomains: 3 }));
  expect(passing(cluster(ab(), webs('a', 'b')), asked)).toEqual([]);
  expect(passing(cluster(ab()), asked)).toEqual(['a', 'b']);
});

test('FT-40: pods that terminate are not counted by a spread', () => {
  const placed: [Pod, string][] = [...webs('a', 'b'), [pod('t', { ...web, deleting: true }), 'a']];
  expect(passing(cluster(ab(), placed), pod('p', spread()))).toEqual(['a', 'b']);
});

test('FT-41: spreads without requirements, without a selector, without the label', () => {
  const made = cluster(ab(), webs('a', 'a'));
  expect(passing(made, pod('p', spread({ labelSelector: {} })))).toEqual(['a', 'b']);
  expect(passing(made, pod('p', spread({ labelSelector: undefined })))).toEqual(['a', 'b']);
  expect(refusals(cluster([node('c')]), pod('p', spread()), 'c')).toMatchObject([{ cause: 'MissingLabel' }]);
});

const claiming = (...names: string[]): PodOptions =>
  ({ volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })) }) as PodOptions;
function withClaims(made: Cluster, claims: Record<string, object>, volumes: Record<string, object> = {}): Cluster {
  made.volumes.known = true;
  for (const [name, spec] of Object.entries(claims))
    made.volumes.setClaim({ metadata: { name, namespace: 'default' }, spec });
  for (const [name, volume] of Object.entries(volumes)) made.volumes.setVolume({ metadata: { name }, ...volume });
  return made;
}
const inZone = (value: string) => ({
  spec: { nodeAffinity: { required: { nodeSelectorTerms: [expression('zone', 'In', value)] } } },
});

test('FT-42: bound volumes pin, claims that are missing or unbound refuse everywhere', () => {
  const made = withClaims(
    cluster(ab()),
    { data: { volumeName: 'v' }, later: { storageClassName: 'now' } },
    { v: inZone('b') },
  );
  made.volumes.classes.set('now', { metadata: { name: 'now' }, provisioner: 'x', volumeBindingMode: 'Immediate' });
  expect(passing(made, pod('p', claiming('data')))).toEqual(['b']);
  expect(refusals(made, pod('p', claiming('nowhere')), 'a')).toMatchObject([{ cause: 'Missing' }]);
  expect(refusals(made, pod('p', claiming('later')), 'b')).toMatchObject([{ cause: 'Unbound' }]);
});

test('FT-43: zone labels of a volume', () => {
  const key = 'topology.kubernetes.io/zone';
  const made = cluster([node('a', { labels: { [key]: 'a' } }), node('c', { labels: { [key]: 'c' } }), node('none')]);
  made.volumes.known = true;
  made.volumes.setVolume({ metadata: { name: 'v', labels: { [key]: 'a__b' } }, spec: {} });
  made.volumes.setClaim({ metadata: { name: 'data', namespace: 'default' }, spec: { volumeName: 'v' } });
  expect(passing(made, pod('p', claiming('data')))).toEqual(['a', 'none']);
});

test('FT-44: a claim for one pod only', () => {
  const made = withClaims(
    cluster([node('a')]),
    { data: { volumeName: 'v', accessModes: ['ReadWriteOncePod'] } },
    { v: { spec: {} } },
  );
  made.place(facts(made, pod('there', claiming('data'))), 'a');
  expect(refusals(made, pod('p', claiming('data')), 'a')).toMatchObject([{ filter: 'VolumeRestrictions' }]);
  made.remove('default/there');
  expect(passing(made, pod('p', claiming('data')))).toEqual(['a']);
});

test('FT-45: how many volumes of a driver a node takes', () => {
  const csi = (driver: string, volumeHandle: string) => ({ spec: { csi: { driver, volumeHandle } } });
  for (const level of ['1.36', '1.37'] as const) {
    const made = new Cluster({ level });
    made.setNode(node('a'));
    const bound = Object.fromEntries(['one', 'two', 'three', 'other'].map((name) => [name, { volumeName: name }]));
    withClaims(made, bound, { one: csi('d', '1'), two: csi('d', '2'), three: csi('d', '3'), other: csi('e', '1') });
    made.volumes.attached.set('a', new Set(['d^1', 'd^2']));
    made.volumes.nodes.set('a', {
      metadata: { name: 'a' },
      spec: { drivers: [{ name: 'd', nodeID: 'a', allocatable: { count: 2 } }] },
    });
    expect(refusals(made, pod('p', claiming('three')), 'a')).toMatchObject([
      { filter: 'NodeVolumeLimits', asked: 1, free: 0 },
    ]);
    expect(passing(made, pod('p', claiming('one')))).toEqual(['a']);
    expect(passing(made, pod('p', claiming('other')))).toEqual(level === '1.36' ? ['a'] : []);
  }
});

const slice = (name: string, at: string, devices: number, more: object = {}): ResourceSlice => ({
  metadata: { name },
  spec: {
    driver: 'd',
    pool: { name: at, generation: 1, resourceSliceCount: 1 },
    nodeName: at,
    devices: Array.from({ length: devices }, (_, index) => ({ name: `dev${index}`, ...more })),
  },
});
function withDevices(made: Cluster, slices: readonly ResourceSlice[], deviceClass: object = {}): Cluster {
  made.devices.known = true;
  for (const one of slices) made.devices.addSlice(one);
  made.devices.setClass({
    metadata: { name: 'g' },
    spec: { selectors: [{ cel: { expression: "device.driver == 'd'" } }], ...deviceClass },
  });
  return made;
}
const template = (made: Cluster, name: string, request: object, more: object = {}): void =>
  made.devices.setTemplate('default', name, { devices: { requests: [{ name: 'r', ...request }], ...more } });
const wanting = (name: string): PodOptions => ({ resourceClaims: [{ name: 'c', resourceClaimTemplateName: name }] });
const exactly = (count: number, deviceClassName = 'g') => ({ exactly: { deviceClassName, count } });

test('FT-46: devices are counted', () => {
  const made = withDevices(cluster([node('a')]), [slice('s', 'a', 4)]);
  template(made, 'four', exactly(4));
  template(made, 'three', exactly(3));
  expect(fitsAnywhere(facts(made, pod('p', wanting('four'))), made).fits).toBe('Yes');
  const two = ['p', 'q'].map((name) => facts(made, pod(name, wanting('three'))));
  const answer = fitsGroup({ unit: 'u', pods: two, need: 'all' }, made);
  expect(answer).toMatchObject({ fits: 'No', binding: { constraint: { cause: 'Count', asked: 3, free: 1 } } });
});

test('FT-47: what a selector says beyond equality is not checked, a class that is gone is no', () => {
  const made = withDevices(cluster([node('a')]), [slice('s', 'a', 4)], {
    selectors: [{ cel: { expression: "device.attributes['x'].mem > 40" } }],
  });
  template(made, 'one', exactly(1));
  template(made, 'gone', exactly(1, 'nobody'));
  const asked = (name: string) => fitsAnywhere(facts(made, pod('p', wanting(name))), made);
  expect(asked('one')).toMatchObject({ fits: 'Unknown', because: { reason: 'NotChecked', what: 'DeviceSelector' } });
  expect(asked('gone')).toMatchObject({ fits: 'No', binding: { constraint: { cause: 'ClassMissing' } } });
});

test('FT-48: what counting does not decide is named', () => {
  const ask = (made: Cluster) => {
    const answer = fitsAnywhere(facts(made, pod('p', wanting('t'))), made);
    return answer.fits === 'Unknown' && 'what' in answer.because ? answer.because.what : answer.fits;
  };
  const matching = withDevices(cluster([node('a')]), [slice('s', 'a', 4)]);
  template(matching, 't', exactly(1), { constraints: [{ matchAttribute: 'd/x' }] });
  const either = withDevices(cluster([node('a')]), [slice('s', 'a', 4)]);
  template(either, 't', { firstAvailable: [{ name: 'x', deviceClassName: 'g' }] });
  const half = slice('s', 'a', 4);
  const partial = withDevices(cluster([node('a')]), [
    { ...half, spec: { ...half.spec, pool: { name: 'a', generation: 1, resourceSliceCount: 2 } } as never },
  ]);
  template(partial, 't', exactly(1));
  expect([ask(matching), ask(either)]).toEqual(['Constraints', 'FirstAvailable']);
  expect(ask(partial)).toBe('IncompletePool');
});

test('FT-49: devices stand in for an extended resource where the node has none of it', () => {
  const nodes = [node('n1', { extended: { 'acme.com/gpu': '2' } }), node('n2')];
  const made = withDevices(cluster(nodes), [slice('s1', 'n1', 3), slice('s2', 'n2', 3)], {
    extendedResourceName: 'acme.com/gpu',
  });
  expect(passing(made, pod('p', { requests: { 'acme.com/gpu': '3' } }))).toEqual(['n2']);
});

test('FT-50: a claim that pods share stays where it is until the last of them leaves', () => {
  const made = withDevices(cluster([node('n1'), node('n2')]), [slice('s1', 'n1', 1), slice('s2', 'n2', 1)]);
  made.devices.setClaim({
    metadata: { name: 'both', namespace: 'default' },
    spec: { devices: { requests: [{ name: 'r', ...exactly(1) }] } },
    status: {
      allocation: {
        devices: { results: [{ request: 'r', driver: 'd', pool: 'n1', device: 'dev0' }] },
        nodeSelector: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] }],
        },
      },
      reservedFor: ['p', 'q'].map((name) => ({ resource: 'pods', name, uid: `default/${name}` })),
    },
  });
  const shared = (name: string) =>
    facts(made, pod(name, { resourceClaims: [{ name: 'c', resourceClaimName: 'both' }] }));
  made.place(shared('p'), 'n1');
  made.place(shared('q'), 'n1');
  made.remove('default/q');
  expect(passing(made, shared('q').pod)).toEqual(['n1']);
  made.remove('default/p');
  expect(passing(made, shared('q').pod)).toEqual(['n1', 'n2']);
});

test('FT-51: room promised to pods at least as important is taken', () => {
  const made = cluster([node('n1', { cpu: 2 })]);
  const promised = facts(made, pod('vip', { cpu: 2, priority: 10 }));
  made.nominate(promised, 'n1');
  expect(passing(made, pod('p', { cpu: 1, priority: 5 }))).toEqual([]);
  expect(passing(made, pod('p', { cpu: 1, priority: 11 }))).toEqual(['n1']);
  expect(passing(made, promised.pod)).toEqual(['n1']);
});

test('FT-52: room held for a unit is room for that unit only', () => {
  const made = cluster([node('n1', { extended: { [GPU]: '4' } })]);
  made.setHold(made.node('n1') as NodeFacts, 'u', {
    unit: 'u',
    pods: 1,
    amounts: [{ slot: made.resources.slot(GPU), amount: 4 }],
  });
  const asked = podFacts(pod('p', { requests: { [GPU]: '4' }, priority: 1000 }), made.resources);
  expect(fitsOn(asked, 'n1', made, 'u').fits).toBe(true);
  expect(fitsOn(asked, 'n1', made, 'v').fits).toBe(false);
});

test('FT-53: a plan that may not read claims says that volumes are not known', () => {
  const made = cluster([node('n1')]);
  const answer = fitsAnywhere(facts(made, pod('p', claiming('data'))), made);
  expect(answer).toMatchObject({ fits: 'Yes', confidence: { kind: 'assumed', list: ['VolumesNotKnown'] } });
});

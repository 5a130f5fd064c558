import { expect, test } from 'vitest';
import type { ResourceSlice } from '../../../api/generated/resource-v1.ts';
import { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import { podFacts } from '../cluster/pod-facts.ts';
import { cluster, facts, node, pod, type PodOptions } from '../fixtures.ts';
import { fitsAnywhere, fitsGroup, fitsOn } from './fits.ts';
import { refusals, passing, GPU, expression, ab } from './filters.fixture.ts';

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

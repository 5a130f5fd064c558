import { expect, test } from 'vitest';
import type { Node } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/resource.ts';
import { DRAIN_MARKERS, KURED_LOCK, type MarkerRow } from './markers.ts';
import { type MarkContext, readMark } from './read-mark.ts';

const NOW = Date.parse('2026-11-17T10:00:00Z');
const BARE: Node = { metadata: { name: 'n' } };
const object = (body: object): KubeObject => body as KubeObject;

/** A node, and what stands elsewhere, that carries the sign of one row. */
function marked({ sign }: MarkerRow): { node: Node; context: MarkContext } {
  const context: MarkContext = { seenAt: NOW };
  const on = (node: Partial<Node>, more: Partial<MarkContext> = {}) => ({
    node: { ...BARE, ...node },
    context: { ...context, ...more },
  });
  if ('taint' in sign) return on({ spec: { taints: [{ key: sign.taint, value: sign.value, effect: 'NoSchedule' }] } });
  if ('label' in sign) return on({ metadata: { name: 'n', labels: { [sign.label]: sign.value ?? '1795000000' } } });
  if ('annotation' in sign)
    return on({ metadata: { name: 'n', annotations: { [sign.annotation]: 'begins' in sign ? 'drain-7' : 'now' } } });
  if ('condition' in sign) return on({ status: { conditions: [{ type: sign.condition, status: 'True' }] } });
  if ('finalizer' in sign)
    return on({ metadata: { name: 'n', deletionTimestamp: '2026-11-17T09:00:00Z', finalizers: [sign.finalizer] } });
  if (sign.elsewhere === 'KuredLock') return on({ spec: { unschedulable: true } }, { kuredNode: 'n' });
  if (sign.elsewhere === 'NodeMaintenance') return on({}, { isMaintained: true });
  return on({}, { machine: object({ metadata: { name: 'm', deletionTimestamp: '2026-11-17T09:00:00Z' } }) });
}

test.each(DRAIN_MARKERS.map((row) => [`${row.driver}: ${JSON.stringify(row.sign)}`, row] as const))(
  'MN-28 %s is seen, and gone with its sign',
  (_, row) => {
    const { context, node } = marked(row);
    expect(readMark(node, context)).toMatchObject({ means: row.means, source: { driver: row.driver } });
    expect(readMark(BARE, { seenAt: NOW })).toBeUndefined();
  },
);

const karpenter: Node = {
  metadata: { name: 'n' },
  spec: { taints: [{ key: 'karpenter.sh/disrupted', effect: 'NoSchedule' }] },
};

test.each<[string, MarkContext['nodeClaim'], object]>([
  [
    'the time that its NodeClaim was told',
    object({ metadata: { annotations: { 'karpenter.sh/nodeclaim-termination-timestamp': '2026-11-17T12:00:00Z' } } }),
    { deadline: '2026-11-17T12:00:00Z', ignoresBudgets: true },
  ],
  [
    'deletion and grace of its NodeClaim',
    object({ metadata: { deletionTimestamp: '2026-11-17T10:00:00Z' }, spec: { terminationGracePeriod: '1h0m0s' } }),
    { deadline: '2026-11-17T11:00:00Z', ignoresBudgets: true },
  ],
  ['none without a grace', object({ metadata: { deletionTimestamp: '2026-11-17T10:00:00Z' } }), {}],
  ['unknown where NodeClaims may not be read', 'Unread', { deadlineUnknown: true, ignoresBudgets: true }],
])('MN-25 Karpenter: %s', (_, nodeClaim, more) => {
  const source = { driver: 'Karpenter', marker: 'taint karpenter.sh/disrupted', ...more };
  expect(readMark(karpenter, { seenAt: NOW, nodeClaim })?.source).toEqual(source);
});

test.each<[string, object, string | undefined]>([
  ['v1beta1', { spec: { nodeDrainTimeout: '10m' } }, '2026-11-17T09:40:00Z'],
  ['v1beta2', { spec: { deletion: { nodeDrainTimeoutSeconds: 60 } } }, '2026-11-17T09:31:00Z'],
  ['no limit', { spec: { nodeDrainTimeout: '0s' } }, undefined],
  [
    'not drained at all',
    {
      metadata: {
        name: 'm',
        deletionTimestamp: 'x',
        annotations: { 'machine.cluster.x-k8s.io/exclude-node-draining': '' },
      },
    },
    '2026-11-17T10:00:00Z',
  ],
])('Cluster API, %s', (_, more, deadline) => {
  const machine = object({
    metadata: { name: 'm', deletionTimestamp: '2026-11-17T09:00:00Z' },
    status: { deletion: { nodeDrainStartTime: '2026-11-17T09:30:00Z' } },
    ...more,
  });
  expect(readMark(BARE, { seenAt: NOW, machine })?.source.deadline).toBe(deadline);
});

test('a Machine that a hook holds before its drain is none yet, nor one that is not deleted', () => {
  const hook = { 'pre-drain.delete.hook.machine.cluster.x-k8s.io/backup': '' };
  const held = object({ metadata: { deletionTimestamp: '2026-11-17T09:00:00Z', annotations: hook } });
  for (const machine of [held, object({ metadata: {} })]) {
    expect(readMark(BARE, { seenAt: NOW, machine })).toBeUndefined();
  }
});

test('deadlines of clouds: two minutes of a spot notice, an hour of GKE, the time of a label', () => {
  const spot: Node = {
    metadata: {},
    spec: {
      taints: [
        { key: 'aws-node-termination-handler/spot-itn', effect: 'NoSchedule', timeAdded: '2026-11-17T09:59:00Z' },
      ],
    },
  };
  const gke: Node = { metadata: { labels: { 'operation.gke.io/type': 'drain' } } };
  const planned: Node = { metadata: { labels: { 'cloud.google.com/scheduled-maintenance-time': '1795000000' } } };
  const deadlines = [spot, gke, planned].map((node) => readMark(node, { seenAt: NOW })?.source.deadline);
  expect(deadlines).toEqual(['2026-11-17T10:01:00Z', '2026-11-17T11:00:00Z', '2026-11-18T11:06:40Z']);
});

test('MN-27: a candidate, a plain cordon and a lock of kured by hand are no drains', () => {
  const candidate: Node = {
    metadata: {},
    spec: { taints: [{ key: 'DeletionCandidateOfClusterAutoscaler', effect: 'PreferNoSchedule' }] },
  };
  expect(readMark(candidate, { seenAt: NOW })?.means).toBe('Candidate');
  const cordoned: Node = {
    metadata: { name: 'n' },
    spec: { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] },
  };
  expect(readMark(cordoned, { seenAt: NOW })).toBeUndefined();
  expect(readMark(cordoned, { seenAt: NOW, kuredNode: 'manual' })).toBeUndefined();
  expect(readMark(cordoned, { seenAt: NOW, kuredNode: 'n' })?.source.marker).toBe(`annotation ${KURED_LOCK}`);
});

test('conditions on a node that Quorate has claimed are its own', () => {
  const annotations = { 'policy.quorate.dev/maintenance': 'm/1' };
  const conditions = [{ type: 'DrainInProgress', status: 'True' as const }];
  expect(readMark({ metadata: { annotations }, status: { conditions } }, { seenAt: NOW })).toBeUndefined();
});

test('a drain of OpenShift that was done is none', () => {
  const annotations = {
    'machineconfiguration.openshift.io/desiredDrain': 'drain-7',
    'machineconfiguration.openshift.io/lastAppliedDrain': 'drain-7',
  };
  expect(readMark({ metadata: { annotations } }, { seenAt: NOW })).toBeUndefined();
});

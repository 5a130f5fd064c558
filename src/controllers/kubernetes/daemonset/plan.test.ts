import { expect, test } from 'vitest';
import { fitOf } from './fit.ts';
import type { DaemonSet, Node, Pod } from './kinds.ts';
import { groupByNode, planPresence, planUpdate } from './plan.ts';
import { daemonPod, REVISION_LABEL, targetNode } from './template.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');
const set = (spec: Partial<NonNullable<DaemonSet['spec']>> = {}): DaemonSet => ({
  metadata: { namespace: 'ns', name: 'd', uid: '1' },
  spec: { template: { metadata: { labels: { app: 'd' } }, spec: { containers: [] } }, ...spec },
});
const node = (name: string, over: Partial<Node> = {}): Node => ({ metadata: { name, labels: {} }, ...over });
type State = 'ready' | 'starting' | 'Failed' | 'Succeeded';
const pod = (name: string, on: string, state: State = 'ready', hash = 'new'): Pod => ({
  metadata: { name, labels: { [REVISION_LABEL]: hash }, creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { containers: [], nodeName: on },
  status: {
    phase: state === 'Failed' || state === 'Succeeded' ? state : 'Running',
    conditions: [
      { type: 'Ready', status: state === 'ready' ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' },
    ],
  },
});
const question = (given: DaemonSet, nodes: Node[], pods: Pod[]) => ({
  set: given,
  nodes,
  fit: fitOf(given),
  podsByNode: groupByNode(pods),
  hash: 'new',
  now: NOW,
});
const spell = ({ create, remove }: ReturnType<typeof planUpdate>): string[] => [
  ...create.map((name) => `create ${name}`),
  ...remove.map(({ pod: gone, reason }) => `delete ${gone.metadata.name} ${reason}`),
];
const presence = (given: DaemonSet, nodes: Node[], pods: Pod[]) =>
  spell(planPresence(question(given, nodes, pods), () => true));
const update = (given: DaemonSet, nodes: Node[], pods: Pod[]) => spell(planUpdate(question(given, nodes, pods)));
const tainted = (effect: string): Node => node('a', { spec: { taints: [{ key: 'x', effect }] } });
const three = ['a', 'b', 'c'].map((name) => node(name));
const rolling = (maxUnavailable: number | string, maxSurge: number | string = 0): DaemonSet =>
  set({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } } });

const cases: { name: string; got: () => string[]; want: string[] }[] = [
  {
    name: 'creates a pod for each node',
    got: () => presence(set(), three, []),
    want: ['create a', 'create b', 'create c'],
  },
  {
    name: 'removes a second pod, the younger',
    got: () => presence(set(), [node('a')], [pod('p', 'a'), pod('q', 'a')]),
    want: ['delete q Surplus'],
  },
  {
    name: 'removes pods that ended',
    got: () => presence(set(), three.slice(0, 2), [pod('p', 'a', 'Failed'), pod('q', 'b', 'Succeeded')]),
    want: ['delete p Failed', 'delete q Succeeded'],
  },
  {
    name: 'keeps a node with NoSchedule as it is',
    got: () => presence(set(), [tainted('NoSchedule')], [pod('p', 'a')]),
    want: [],
  },
  { name: 'creates none on a node with NoSchedule', got: () => presence(set(), [tainted('NoSchedule')], []), want: [] },
  {
    name: 'clears a node with NoExecute',
    got: () => presence(set(), [tainted('NoExecute')], [pod('p', 'a')]),
    want: ['delete p NotWanted'],
  },
  {
    name: 'follows the node selector',
    got: () =>
      presence(
        set({ template: { spec: { containers: [], nodeSelector: { x: '1' } } } }),
        [node('a'), node('b', { metadata: { name: 'b', labels: { x: '1' } } })],
        [pod('p', 'a')],
      ),
    want: ['create b', 'delete p NotWanted'],
  },
  {
    name: 'replaces one outdated pod at a time by default',
    got: () =>
      update(
        set(),
        three,
        three.map((n, i) => pod(`p${i}`, n.metadata.name ?? '', 'ready', 'old')),
      ),
    want: ['delete p0 Outdated'],
  },
  {
    name: 'waits for the replaced pod',
    got: () =>
      update(set(), three, [pod('p', 'a', 'starting'), pod('q', 'b', 'ready', 'old'), pod('r', 'c', 'ready', 'old')]),
    want: [],
  },
  {
    name: 'replaces broken outdated pods at once',
    got: () =>
      update(set(), three, [
        pod('p', 'a', 'starting', 'old'),
        pod('q', 'b', 'starting', 'old'),
        pod('r', 'c', 'ready', 'old'),
      ]),
    want: ['delete p Outdated', 'delete q Outdated'],
  },
  {
    name: 'counts maxUnavailable in percent, rounded up',
    got: () =>
      update(
        rolling('50%'),
        three,
        three.map((n, i) => pod(`p${i}`, n.metadata.name ?? '', 'ready', 'old')),
      ),
    want: ['delete p0 Outdated', 'delete p1 Outdated'],
  },
  {
    name: 'surges beside the old pod',
    got: () =>
      update(
        rolling(0, 1),
        three,
        three.map((n, i) => pod(`p${i}`, n.metadata.name ?? '', 'ready', 'old')),
      ),
    want: ['create a'],
  },
  {
    name: 'ends a surge once the new pod is available',
    got: () => presence(rolling(0, 1), [node('a')], [pod('p', 'a', 'ready', 'old'), pod('q', 'a')]),
    want: ['delete p Replaced'],
  },
];
for (const { got, name, want } of cases) test(`a DaemonSet ${name}`, () => expect(got()).toEqual(want));

test('planPresence() leaves failed pods of a node that is held back', () => {
  const plan = planPresence(question(set(), [node('a')], [pod('p', 'a', 'Failed')]), () => false);
  expect(spell(plan)).toEqual([]);
});

test('daemonPod() is meant for one node and tolerates its troubles', () => {
  const made = daemonPod(set(), { hash: 'h', node: 'a' });
  expect(targetNode(made)).toBe('a');
  expect(made.metadata.labels).toEqual({ app: 'd', [REVISION_LABEL]: 'h' });
  expect(made.spec?.tolerations?.map(({ key }) => key)).toContain('node.kubernetes.io/unschedulable');
  expect(
    fitOf(set())(
      node('a', {
        spec: { unschedulable: true, taints: [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }] },
      }),
    ).shouldRun,
  ).toBe(true);
});

/** From what a cluster says to a plan: what is said beside the steps, bad input, and what is known of time. */
import { expect, test } from 'vitest';
import type { Node, Pod } from '../../api/generated/core-v1.ts';
import { DisruptionIndex, guardEverything } from '../disruption/index.ts';
import { type DrainPlan, planDrain } from '../drain-plan/index.ts';
import { Cluster } from '../placement/index.ts';
import { node, pod } from '../placement/fixtures.ts';
import { UnavailabilityFeed } from '../unavailability/index.ts';
import { buildQuestion, type QuestionInput } from './question.ts';
import { type Statement, statementsOf } from './statements.ts';

const owner = (kind: string, uid = kind): Partial<Pod['metadata']> => ({
  ownerReferences: [{ apiVersion: 'apps/v1', kind, name: kind.toLowerCase(), uid, controller: true }],
});

interface Made extends Pick<Pod, 'status'> {
  readonly on: string;
  readonly metadata?: Partial<Pod['metadata']>;
  readonly spec?: Partial<NonNullable<Pod['spec']>>;
}

function made(name: string, { metadata, on, spec, status }: Made): Pod {
  const base = pod(name, {});
  return {
    metadata: { ...base.metadata, uid: name, ...metadata },
    spec: { ...(base.spec as NonNullable<Pod['spec']>), nodeName: on, ...spec },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], ...status },
  };
}

function plan(
  nodes: readonly Node[],
  pods: readonly Pod[],
  drain: readonly string[],
  over: Partial<QuestionInput> = {},
): { plan: DrainPlan; statements: Statement[] } {
  const cluster = new Cluster();
  for (const one of nodes) cluster.setNode(one);
  const everyGroup = new DisruptionIndex();
  guardEverything(everyGroup, 'default');
  const question = buildQuestion({
    cluster,
    pods,
    groups: {
      index: new DisruptionIndex(),
      everyGroup,
      unavailability: new UnavailabilityFeed(),
      wholesaleSets: new Set(),
    },
    drain: new Set(drain),
    nodesReturn: false,
    now: 0,
    ...over,
  });
  const found = planDrain(question);
  return { plan: found, statements: statementsOf({ pods, drain: new Set(drain), plan: found }) };
}

const gone = ({ plan: { steps } }: { plan: DrainPlan }): string[] =>
  steps.flatMap(({ evictions }) => evictions.flatMap(({ pods }) => pods));

test('PL-07: local storage and pods that nobody makes again are said with their flags, and the rest is planned', () => {
  const answer = plan(
    [node('n1', {}), node('n2', {})],
    [
      made('bare', { on: 'n1' }),
      made('cache', { on: 'n1', metadata: owner('ReplicaSet'), spec: { volumes: [{ name: 'x', emptyDir: {} }] } }),
      made('web', { on: 'n1', metadata: owner('ReplicaSet') }),
    ],
    ['n1'],
  );
  expect(answer.statements).toMatchObject([
    { kind: 'Assumed' },
    { kind: 'LocalStorage', pods: ['default/cache'], flag: '--delete-emptydir-data' },
    { kind: 'Unmanaged', pods: ['default/bare'], flag: '--force' },
  ]);
  expect(gone(answer).sort()).toEqual(['default/bare', 'default/cache', 'default/web']);
});

test('PL-08: a pod of a DaemonSet stays with its node, whatever it tolerates', () => {
  const tolerations = [{ operator: 'Exists' }];
  const answer = plan(
    [node('n1', {}), node('n2', {})],
    [made('agent', { on: 'n1', metadata: owner('DaemonSet'), spec: { tolerations } })],
    ['n1'],
  );
  expect(answer.statements).toMatchObject([
    { kind: 'DaemonSet', pods: ['default/agent'], flag: '--ignore-daemonsets' },
  ]);
  expect(gone(answer)).toEqual([]);
  expect(answer.plan.steps).toEqual([{ evictions: [], completes: ['n1'] }]);
});

test('PL-14: bad input is named, one by one, and nothing crashes', () => {
  const ZONE = 'zone';
  const asking = (requests: Record<string, string>, extra: object = {}): Partial<NonNullable<Pod['spec']>> => ({
    containers: [{ name: 'main', resources: { requests } }],
    ...extra,
  });
  const bare: Node = { metadata: { name: 'bare' }, status: { conditions: [{ type: 'Ready', status: 'True' }] } };
  const cluster = new Cluster();
  cluster.devices.known = true;
  cluster.devices.setTemplate('default', 'gone-class', {
    devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gone' } }] },
  });
  for (const one of [node('going', { cpu: 64 }), bare, node('a', { cpu: 2, labels: { [ZONE]: 'a' } })]) {
    cluster.setNode(one);
  }
  const answer = plan(
    [],
    [
      made('nobody', { on: 'going', metadata: owner('Job', 'j1'), spec: asking({ 'example.com/tpu': '1' }) }),
      made('large', { on: 'going', metadata: owner('Job', 'j2'), spec: asking({ cpu: '8' }) }),
      made('classless', {
        on: 'going',
        metadata: owner('Job', 'j3'),
        spec: asking({}, { resourceClaims: [{ name: 'c', resourceClaimTemplateName: 'gone-class' }] }),
      }),
    ],
    ['going'],
    { cluster, topologyOf: (one) => (one.metadata.name === 'large' ? [{ key: ZONE, mode: 'Required' }] : []) },
  );
  const texts = Object.fromEntries(answer.plan.blocked.map(({ text, unit }) => [unit, text]));
  expect(texts).toEqual({
    'default/nobody': 'NoRoom: 1 × example.com/tpu; no node that stays has any',
    'default/large': expect.stringMatching(/^NoRoom: 8 cpu .*zone/),
    'default/classless': expect.stringMatching(/gone/),
  });
  expect(answer.plan.steps).toEqual([]);
});

test('a group of a composite with a topology moves only where the groups beside it are', () => {
  const zoned = (name: string, zone: string, cpu: number): Node => node(name, { cpu, labels: { zone } });
  const cpus = (cpu: string) => ({ containers: [{ name: 'main', resources: { requests: { cpu } } }] });
  const pods = [
    made('prefill', { on: 'a1', metadata: owner('Job', 'j1'), spec: cpus('2') }),
    made('decode', { on: 'a2', metadata: owner('Job', 'j2'), spec: cpus('2') }),
  ];
  const ask = (among: boolean, spare: number) =>
    plan([zoned('a1', 'a', 2), zoned('a2', 'a', 2 + spare), zoned('b1', 'b', 8)], pods, ['a1'], {
      topologyOf: () => (among ? [{ key: 'zone', mode: 'Required', among: 'default/pair' }] : []),
    });
  expect(gone(ask(false, 0))).toEqual(['default/prefill']);
  expect(gone(ask(true, 2))).toEqual(['default/prefill']);
  const stuck = ask(true, 0);
  expect(gone(stuck)).toEqual([]);
  expect(stuck.plan.blocked).toMatchObject([
    { unit: 'default/prefill', text: expect.stringMatching(/^NoRoom: 2 cpu .*zone/) },
  ]);
});

const started = (ready: number, name: string): Pod =>
  made(name, {
    on: 'n1',
    metadata: { ...owner('ReplicaSet'), creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { terminationGracePeriodSeconds: 10 },
    status: {
      conditions: [
        { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-01T00:00:01Z' },
        {
          type: 'Ready',
          status: 'True',
          lastTransitionTime: new Date(Date.UTC(2026, 0, 1, 0, 0, 1 + ready)).toISOString(),
        },
      ],
    },
  });

test('a plan takes what pods took when they last started, or what it was told', () => {
  const pods = [started(20, 'web-a'), started(40, 'web-b'), started(60, 'web-c')];
  const nodes = [node('n1', {}), node('n2', {})];
  const timeOf = (times: QuestionInput['times']) => plan(nodes, pods, ['n1'], { times }).plan.time;
  // 10 s to stop, 1 s to be placed, 40 s in the middle, 1 s to look.
  expect(timeOf({})).toEqual({ seconds: 52, unknown: [], by: { Started: 3 } });
  expect(timeOf({ readyByName: new Map([['web', 100]]), stopSeconds: 5 })).toEqual({
    seconds: 107,
    unknown: [],
    by: { Told: 3 },
  });
  const fresh = plan(nodes, [made('new', { on: 'n1', metadata: owner('ReplicaSet') })], ['n1']).plan.time;
  expect(fresh).toEqual({ seconds: 33, unknown: ['default/new'] });
});

test('8.3: what the record says of a group beats how its pods started, and what is told for its workload beats both', () => {
  const pods = [started(20, 'web-a'), started(40, 'web-b'), made('db', { on: 'n1', metadata: owner('StatefulSet') })];
  const nodes = [node('n1', {}), node('n2', {})];
  const asked = (times: QuestionInput['times'], recoveries: Readonly<Record<string, number>>) =>
    plan(nodes, pods, ['n1'], { times, recoveryOf: (unit) => recoveries[unit] }).plan;
  const sources = (made: ReturnType<typeof asked>) =>
    Object.fromEntries(
      made.steps.flatMap(({ evictions }) =>
        evictions.map(({ secondsBy, seconds, unit }) => [unit, [seconds, secondsBy]]),
      ),
    );
  const some = { 'default/web-a': 300 };
  expect(sources(asked({ readySeconds: 5, stopSeconds: 10 }, some))).toEqual({
    'default/web-a': [300, 'Recorded'],
    'default/web-b': [10 + 1 + 40, 'Started'],
    'default/db': [10 + 2 + 5, 'Assumed'],
  });
  const told = asked({ readyByName: new Map([['web-a', 7]]), stopSeconds: 10 }, { ...some, 'default/db': 60 });
  expect(sources(told)).toEqual({
    'default/web-a': [10 + 1 + 7, 'Told'],
    'default/web-b': [10 + 1 + 40, 'Started'],
    'default/db': [60, 'Recorded'],
  });
  expect(told.time).toEqual({ seconds: 61, unknown: [], by: { Told: 1, Recorded: 1, Started: 1 } });
});

test('with reserve, a plan says which room is to be kept for whom, and always what a group asks for', () => {
  const nodes = [node('n1', { cpu: 4 }), node('n2', { cpu: 4 })];
  const spec = { containers: [{ name: 'main', resources: { requests: { cpu: '2' } } }] };
  const pods = [made('web', { on: 'n1', metadata: owner('ReplicaSet'), spec })];
  const [eviction] = plan(nodes, pods, ['n1'], { reserve: true }).plan.steps[0]?.evictions ?? [];
  expect(eviction).toMatchObject({
    where: { 'default/web': 'n2' },
    needs: { cpu: 2000, pods: 1 },
    hold: [{ node: 'n2', amounts: { cpu: 2000, pods: 1 } }],
  });
  expect(plan(nodes, pods, ['n1']).plan.steps[0]?.evictions[0]?.hold).toBeUndefined();
});

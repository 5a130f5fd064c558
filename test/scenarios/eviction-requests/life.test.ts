/** EvictionRequests from the first to the last: every status is written through the server, which holds it to Kubernetes' rules. */
import { afterEach, expect, test } from 'vitest';
import type { DaemonSet } from '../../../src/api/generated/apps-v1.ts';
import { evictionRequestType, evictionType } from '../../../src/api/lifecycle/index.ts';
import { daemonSetType, podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { podDisruptionBudget } from '../../../src/testkit/index.ts';
import { EVICTOR, namespace, reportOf, told, turns, World } from './fixture.ts';

let world: World;
afterEach(() => world.stop());

const WAITING = ['Failed=False/AwaitingEviction', 'TargetEvicted=False/AwaitingEviction'];
const DELETED = ['Failed=False/Succeeded', 'TargetEvicted=True/PodDeleted'];
const failed = (reason: string): string[] => [`Failed=True/${reason}`, 'TargetEvicted=False/EvictionFailed'];
const SAVER = 'example.com/saver';
const saver = { name: SAVER, priority: 10_000 };
const CLOSED = { disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };

/** A budget that can spare nobody. */
async function closedBudget(): Promise<void> {
  const spec = { minAvailable: 1, selector: {} };
  const budget = await world.client.create(podDisruptionBudgetType, podDisruptionBudget({ name: 'all', spec }));
  const { generation = 1 } = budget.metadata;
  await world.client.updateStatus(podDisruptionBudgetType, {
    ...budget,
    status: { ...CLOSED, observedGeneration: generation },
  });
}
const daemonSet: DaemonSet = {
  metadata: { name: 'log', namespace },
  spec: {
    selector: { matchLabels: { app: 'log' } },
    template: { metadata: { labels: { app: 'log' } }, spec: { containers: [{ name: 'main', image: 'log:1' }] } },
  },
};
async function running(name: string, responders: (typeof saver)[] = []) {
  const made = await world.pod(name, responders);
  const conditions = [{ type: 'Ready', status: 'True' }];
  return world.client.updateStatus(podType, { ...made, status: { ...made.status, phase: 'Running', conditions } });
}

test('ER-09: a request for a pod that is not there, or is another one, is invalid and makes no Eviction', async () => {
  world = await World.start();
  const pod = await world.pod('web');
  await world.ask('other', pod, { uid: '5477c2ff-f59f-4eb9-a0be-e54232323faa' });
  await world.ask('missing', { ...pod, metadata: { ...pod.metadata, name: 'nobody' } });
  for (const name of ['other', 'missing']) {
    const request = await world.request(name);
    expect(told(request)).toEqual(failed('EvictionInvalid'));
    expect(request.status?.observedGeneration).toBe(1);
  }
  expect(await world.evictions()).toEqual([]);
  expect(await world.hasPod('web')).toBe(true);
});

test('ER-10: without responders the default one evicts the pod, and the request is told', async () => {
  world = await World.start();
  const request = await world.ask('a', await world.pod('web'));
  expect(await world.hasPod('web')).toBe(false);
  const eviction = await world.eviction('pod-1-web');
  expect(told(eviction)).toEqual(DELETED);
  expect(turns(eviction)).toEqual(['evictor Completed']);
  expect(reportOf(eviction, EVICTOR)).toMatchObject({ startTime: world.now, completionTime: world.now });
  expect(eviction.metadata.labels).toEqual({ 'example.com/drain': 'requester', [EVICTOR]: 'responder' });
  expect(eviction.metadata.ownerReferences).toMatchObject([{ kind: 'EvictionRequest', uid: request.metadata.uid }]);
  expect(eviction.status).toMatchObject({
    observedGeneration: 1,
    requesters: [{ name: 'example.com/drain', intent: 'Eviction' }],
  });
  expect(told(await world.request('a'))).toEqual(DELETED);
});

test('ER-10: the responder that also asks has both parts', async () => {
  world = await World.start();
  await world.ask('a', await world.pod('web', [saver]), { requester: SAVER });
  const { metadata } = await world.eviction('pod-1-web');
  expect(metadata.labels).toEqual({ [SAVER]: 'requester-responder', [EVICTOR]: 'responder' });
});

test('ER-11: one of two requesters withdraws: it goes on; both: the responder is canceled and the pod stays', async () => {
  world = await World.start();
  const pod = await world.pod('web', [saver]);
  await world.ask('a', pod);
  await world.ask('b', pod, { requester: 'example.com/scaler' });
  expect(await world.evictions()).toEqual(['pod-1-web']);
  await world.intend('a', 'Withdrawn');
  const going = await world.eviction('pod-1-web');
  expect(told(going)).toEqual(WAITING);
  expect(going.status?.requesters).toEqual([
    { name: 'example.com/drain', intent: 'Withdrawn' },
    { name: 'example.com/scaler', intent: 'Eviction' },
  ]);
  expect(going.metadata.ownerReferences).toHaveLength(2);
  await world.intend('b', 'Withdrawn');
  const eviction = await world.eviction('pod-1-web');
  expect(told(eviction)).toEqual(failed('CanceledDueToNoRequesters'));
  expect(turns(eviction)).toEqual(['saver Canceled', 'evictor Inactive']);
  for (const name of ['a', 'b']) expect(told(await world.request(name))).toEqual(failed('CanceledDueToNoRequesters'));
  await world.pass(3600, 600);
  expect(await world.hasPod('web')).toBe(true);
});

test('ER-12: a responder that says nothing for 20 minutes is passed over; one that does keeps its turn', async () => {
  world = await World.start();
  await world.ask('quiet', await world.pod('quiet', [saver]));
  await world.ask('alive', await world.pod('alive', [saver]));
  await world.pass(600, 60);
  await world.report('pod-1-alive', SAVER, { heartbeatTime: world.now });
  await world.pass(599, 60);
  expect(turns(await world.eviction('pod-1-quiet'))).toEqual(['saver Active', 'evictor Inactive']);
  await world.pass(1);
  expect(turns(await world.eviction('pod-1-quiet'))).toEqual(['saver Interrupted', 'evictor Completed']);
  expect(await world.hasPod('quiet')).toBe(false);
  expect(turns(await world.eviction('pod-1-alive'))).toEqual(['saver Active', 'evictor Inactive']);
  expect(await world.hasPod('alive')).toBe(true);
  await world.pass(600, 60);
  expect(turns(await world.eviction('pod-1-alive'))).toEqual(['saver Interrupted', 'evictor Completed']);
});

test('ER-13: a responder that is done, with the pod still there, is followed by the default one', async () => {
  world = await World.start();
  await closedBudget();
  await world.ask('a', await running('web', [saver]));
  await world.pass(30);
  await world.report('pod-1-web', SAVER, { completionTime: world.now, message: 'saved' });
  const eviction = await world.eviction('pod-1-web');
  expect(turns(eviction)).toEqual(['saver Completed', 'evictor Active']);
  expect(reportOf(eviction, EVICTOR)?.startTime).toBe(world.now);
  expect(told(eviction)).toEqual(WAITING);
});

test('a pod that goes by itself ends it: the responder whose turn it was is interrupted', async () => {
  world = await World.start();
  await world.ask('a', await world.pod('web', [saver]));
  await world.client.delete(podType, { namespace, name: 'web' });
  await world.settle();
  const eviction = await world.eviction('pod-1-web');
  expect(turns(eviction)).toEqual(['saver Interrupted', 'evictor Inactive']);
  expect(told(eviction)).toEqual(DELETED);
});

test('a pod that finishes is evicted, and says so', async () => {
  world = await World.start();
  const pod = await running('web', [saver]);
  await world.ask('a', pod);
  await world.client.patch(
    podType,
    { namespace, name: 'web' },
    { type: 'merge', body: { status: { phase: 'Succeeded' } } },
    { subresource: 'status' },
  );
  await world.settle();
  expect(told(await world.request('a'))).toEqual(['Failed=False/Succeeded', 'TargetEvicted=True/PodTerminal']);
});

test('ER-14: the default responder asks again after 5 s, doubling, and says how often; when the budget opens it goes', async () => {
  world = await World.start();
  await closedBudget();
  await world.ask('a', await running('web'));
  const said = async () => reportOf(await world.eviction('pod-1-web'), EVICTOR);
  const begun = world.plane.clock.now();
  const tries: number[] = [];
  let last = '';
  for (let at = 0; at <= 200; at += 1) {
    const { message = '' } = (await said()) ?? {};
    if (message !== last) tries.push((world.plane.clock.now() - begun) / 1000);
    last = message;
    if (at < 200) await world.pass(1);
  }
  expect(tries).toEqual([0, 5, 15, 35, 75, 155]);
  expect(last).toMatch(/^refused after 6 tries: The disruption budget all needs 1 healthy pods/);
  const heard = Date.parse((await said())?.heartbeatTime ?? '');
  expect(heard - begun).toBe(155_000);
  await world.client.delete(podDisruptionBudgetType, { namespace, name: 'all' });
  await world.pass(115);
  expect(told(await world.request('a'))).toEqual(DELETED);
});

test('ER-14: two tries within 20 s are one heartbeat', async () => {
  world = await World.start();
  await closedBudget();
  await world.ask('a', await running('web'));
  const heartbeat = async () => reportOf(await world.eviction('pod-1-web'), EVICTOR)?.heartbeatTime;
  const first = await heartbeat();
  await world.pass(15);
  expect(reportOf(await world.eviction('pod-1-web'), EVICTOR)?.message).toContain('3 tries');
  expect(await heartbeat()).toBe(first);
  await world.pass(20);
  expect(await heartbeat()).toBe(world.now);
});

test('ER-15: a pod of a DaemonSet is not evicted', async () => {
  world = await World.start();
  const set = await world.client.create(daemonSetType, daemonSet);
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: 'log',
    uid: set.metadata.uid ?? '',
    controller: true,
  };
  await world.ask('a', await world.pod('log-1', [], { ownerReferences: [owner] }));
  const eviction = await world.eviction('pod-1-log-1');
  expect(turns(eviction)).toEqual(['evictor Completed']);
  expect(told(eviction)).toEqual(failed('NoFurtherResponder'));
  expect(reportOf(eviction, EVICTOR)?.message).toContain('DaemonSet');
  expect(await world.hasPod('log-1')).toBe(true);
});

test('ER-16: a request that comes back after it failed gets another Eviction', async () => {
  world = await World.start();
  const pod = await world.pod('web', [saver]);
  await world.ask('a', pod);
  await world.intend('a', 'Withdrawn');
  expect(told(await world.request('a'))).toEqual(failed('CanceledDueToNoRequesters'));
  await world.intend('a', 'Eviction');
  expect(await world.evictions()).toEqual(['pod-1-web', 'pod-2-web']);
  expect(told(await world.eviction('pod-1-web'))).toEqual(failed('CanceledDueToNoRequesters'));
  const second = await world.eviction('pod-2-web');
  expect(told(second)).toEqual(WAITING);
  expect(turns(second)).toEqual(['saver Active', 'evictor Inactive']);
  const request = await world.request('a');
  expect(told(request)).toEqual(WAITING);
  expect(request.status?.observedGeneration).toBe(3);
});

test('ER-16: a request that failed and did not change stays failed', async () => {
  world = await World.start();
  const pod = await world.pod('web', [saver]);
  await world.ask('a', pod);
  await world.intend('a', 'Withdrawn');
  await world.pass(1800, 300);
  expect(await world.evictions()).toEqual(['pod-1-web']);
});

test('ER-17: a request that is deleted but held counts as withdrawn', async () => {
  world = await World.start();
  await world.ask('a', await world.pod('web', [saver]));
  const key = { namespace, name: 'a' };
  const hold = { metadata: { finalizers: ['example.com/held'] } };
  await world.client.patch(evictionRequestType, key, { type: 'merge', body: hold });
  await world.client.delete(evictionRequestType, key);
  await world.settle();
  expect(told(await world.eviction('pod-1-web'))).toEqual(failed('CanceledDueToNoRequesters'));
  expect(told(await world.request('a'))).toEqual(failed('CanceledDueToNoRequesters'));
  expect(await world.hasPod('web')).toBe(true);
});

test('ER-17: when the last request is deleted the Eviction is collected', async () => {
  world = await World.start();
  const pod = await world.pod('web', [saver]);
  await world.ask('a', pod);
  await world.ask('b', pod, { requester: 'example.com/scaler' });
  await world.client.delete(evictionRequestType, { namespace, name: 'a' });
  await world.pass(5);
  expect(told(await world.eviction('pod-1-web'))).toEqual(WAITING);
  await world.client.delete(evictionRequestType, { namespace, name: 'b' });
  await world.pass(60);
  expect(await world.evictions()).toEqual([]);
  expect(await world.hasPod('web')).toBe(true);
});

test('5.2: an Eviction that somebody else made is adopted where somebody asks, and let go of where nobody does', async () => {
  world = await World.start();
  const pod = await world.pod('web', [saver]);
  const target = { pod: { name: 'web', uid: pod.metadata.uid ?? '' } };
  await world.client.create(evictionType, { metadata: { name: 'by-hand', namespace }, spec: { target } });
  await world.settle();
  expect(told(await world.eviction('by-hand'))).toEqual(failed('CanceledDueToNoRequesters'));
  await world.ask('a', pod);
  expect(await world.evictions()).toEqual(['by-hand', 'pod-1-web']);
  await world.intend('a', 'Withdrawn');
  const other = await world.pod('db', [saver]);
  const request = {
    metadata: { name: 'b', namespace },
    spec: {
      target: { pod: { name: 'db', uid: other.metadata.uid ?? '' } },
      requester: 'example.com/drain',
      intent: 'Eviction',
    },
  };
  await Promise.all([
    world.client.create(evictionType, { metadata: { name: 'db', namespace }, spec: { target: request.spec.target } }),
    world.client.create(evictionRequestType, request),
  ]);
  await world.settle();
  const all = await world.evictions();
  const open = await Promise.all(
    all.map(async (name) => (told(await world.eviction(name))[0] === WAITING[0] ? [name] : [])),
  );
  expect(open.flat()).toHaveLength(1);
});

test('5.2: a new pod of the same name is another target, with the next number', async () => {
  world = await World.start();
  await world.ask('a', await world.pod('web'));
  await world.ask('b', await world.pod('web'));
  expect(await world.evictions()).toEqual(['pod-1-web', 'pod-2-web']);
  for (const name of ['a', 'b']) expect(told(await world.request(name))).toEqual(DELETED);
});

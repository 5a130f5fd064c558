/** Groups that are told by EvictionRequests before they go: the channel of that name, and requests that others make. */
import { afterEach, expect, test } from 'vitest';
import type { Pod } from '../../../src/api/generated/core-v1.ts';
import type { Eviction, EvictionRequest, ResponderStatus } from '../../../src/api/generated/lifecycle-v1alpha1.ts';
import { evictionRequestType, evictionType } from '../../../src/api/lifecycle/index.ts';
import { disruptionPolicyType, type NoticeTerms } from '../../../src/api/quorate/disruption-policy.ts';
import { type GroupEviction, groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import { podType } from '../../../src/api/resource-types.ts';
import { formatTime } from '../../../src/machinery/values/index.ts';
import { namespace, standOf, Told } from './fixture.ts';

const SAVER = 'checkpoints.example.com/saver';
const NOTICE_ASKS = 'quorate.dev/notice';
const BY_SAVER: NoticeTerms = {
  duration: '60s',
  channels: [{ type: 'EvictionRequest' }],
  acknowledgement: { from: 'Responder', responder: SAVER },
};

let told: Told;
afterEach(() => told.world.stop());

const requests = async (): Promise<EvictionRequest[]> =>
  (await told.client.list(evictionRequestType, { namespace })).items;
const evictions = async (): Promise<Eviction[]> => (await told.client.list(evictionType, { namespace })).items;
const groupEvictions = async (): Promise<GroupEviction[]> =>
  (await told.client.list(groupEvictionType, { namespace })).items;
const ofPod = async (pod: Pod | undefined): Promise<Eviction | undefined> =>
  (await evictions()).find(({ spec }) => spec?.target?.pod?.uid === pod?.metadata.uid);
const turns = ({ status }: Eviction): string[] =>
  (status?.targetResponders ?? []).map(({ name, priority, state }) => `${name} ${priority} ${state}`);

/** What the responder says of itself. */
async function report(pod: Pod | undefined, news: Partial<ResponderStatus>): Promise<void> {
  const current = await ofPod(pod);
  if (current === undefined) throw new Error('There is no Eviction');
  const responders = current.status?.responders?.map((one) => (one.name === SAVER ? { ...one, ...news } : one));
  await told.client.updateStatus(evictionType, { ...current, status: { ...current.status, responders } });
}
const completes = (pod: Pod | undefined): Promise<void> =>
  report(pod, { completionTime: formatTime(told.world.plane.clock.now()) });

async function ask(name: string, pod: Pod | undefined): Promise<void> {
  const target = { pod: { name: pod?.metadata.name ?? '', uid: pod?.metadata.uid ?? '' } };
  const spec = { target, requester: 'example.com/drain', intent: 'Eviction' };
  await told.client.create(evictionRequestType, { metadata: { name, namespace }, spec });
}
async function intend(name: string, intent: string): Promise<void> {
  await told.client.patch(evictionRequestType, { namespace, name }, { type: 'merge', body: { spec: { intent } } });
}
const members = (eviction: GroupEviction): string[] =>
  (eviction.status?.notice?.members ?? []).map(({ state, via }) => `${state} ${via ?? '-'}`);

test('NT-01: by EvictionRequests, the named responder has a turn for every member, and the group goes after the last', async () => {
  told = await Told.start(BY_SAVER);
  await told.ask();
  await told.world.pass(2);
  expect((await requests()).map(({ spec }) => `${spec?.requester} ${spec?.intent}`)).toEqual(
    Array.from({ length: 4 }, () => `${NOTICE_ASKS} Eviction`),
  );
  const made = await evictions();
  expect(made).toHaveLength(4);
  for (const eviction of made) {
    expect(turns(eviction)).toEqual([`${SAVER} 10000 Active`, 'imperative-eviction.k8s.io/evictor 100 Inactive']);
    expect(eviction.metadata.labels).toMatchObject({ [SAVER]: 'responder', [NOTICE_ASKS]: 'requester' });
  }
  expect(members(await told.get())).toEqual(Array.from({ length: 4 }, () => 'Told EvictionRequest'));
  const all = await told.members();
  await report(all[0], { message: 'saving' });
  await told.world.pass(1);
  expect((await told.get()).status?.notice?.members?.[0]?.message).toBe('saving');
  for (const pod of all) {
    await told.world.pass(5);
    expect(await told.staying()).toHaveLength(4);
    await completes(pod);
  }
  await told.world.pass(2);
  expect(standOf(await told.get())).toBe('Done/True AllMembersEvicted');
  expect(await groupEvictions()).toHaveLength(1);
  await told.world.pass(10);
  for (const { status } of await evictions()) {
    expect(status?.conditions?.find(({ type }) => type === 'TargetEvicted')).toMatchObject({ status: 'True' });
  }
});

test('NT-02: by EvictionRequests, heartbeats hold nothing beyond the deadline, and the responder is interrupted', async () => {
  told = await Told.start(BY_SAVER);
  await told.ask();
  await told.world.pass(2);
  const [mute, ...others] = await told.members();
  for (const pod of others) await completes(pod);
  for (let at = 0; at < 2; at += 1) {
    await told.world.pass(25);
    await report(mute, { heartbeatTime: formatTime(told.world.plane.clock.now()) });
  }
  await told.world.pass(6);
  expect(await told.staying()).toHaveLength(4);
  await told.world.pass(5);
  expect(standOf(await told.get())).toBe('TimedOut/True AllMembersEvicted');
  await told.world.pass(10);
  const eviction = await ofPod(mute);
  expect(eviction && turns(eviction)[0]).toBe(`${SAVER} 10000 Interrupted`);
});

test('NT-03: withdrawn, the responder is told to stop for every member, and a further notice asks anew', async () => {
  told = await Told.start(BY_SAVER);
  await told.ask();
  await told.world.pass(2);
  await completes((await told.members())[0]);
  await told.world.pass(10);
  await told.withdraw();
  await told.world.pass(3);
  expect(standOf(await told.get())).toBe('Withdrawn/False Withdrawn');
  expect(await told.staying()).toHaveLength(4);
  for (const { status } of await evictions()) {
    expect(status?.conditions?.find(({ type }) => type === 'Failed')?.reason).toBe('CanceledDueToNoRequesters');
  }
  await told.ask('again');
  await told.world.pass(2);
  const open = (await evictions()).filter(({ metadata }) => metadata.name?.startsWith('pod-2-'));
  expect(open.map((one) => turns(one)[0])).toEqual(Array.from({ length: 4 }, () => `${SAVER} 10000 Active`));
  for (const eviction of open) {
    const name = eviction.spec?.target?.pod?.name ?? '';
    const pod = await told.client.get(podType, { namespace, name });
    const responders = eviction.status?.responders?.map((one) =>
      one.name === SAVER ? { ...one, completionTime: formatTime(told.world.plane.clock.now()) } : one,
    );
    expect(pod.metadata.uid).toBe(eviction.spec?.target?.pod?.uid);
    await told.client.updateStatus(evictionType, { ...eviction, status: { ...eviction.status, responders } });
  }
  await told.world.pass(2);
  expect(standOf(await told.get('again'))).toBe('Done/True AllMembersEvicted');
});

test('NT-04: a request that others made is shared, joins the notice, and holds it up when the first one withdraws', async () => {
  told = await Told.start(BY_SAVER);
  const [first] = await told.members();
  await told.ask();
  await told.world.pass(2);
  await ask('mine', first);
  await told.world.pass(7);
  expect(await requests()).toHaveLength(5);
  expect(await evictions()).toHaveLength(4);
  const made = (await groupEvictions()).find(({ metadata }) => metadata.name !== 'ask');
  expect(made?.status?.joined).toBe('ask');
  expect(made?.metadata.labels).toEqual({ 'policy.quorate.dev/origin': 'eviction-request' });
  await told.withdraw();
  await told.world.pass(5);
  expect(standOf(await told.get())).toBe('Running/-');
  await intend('mine', 'Withdrawn');
  await told.world.pass(5);
  expect(standOf(await told.get())).toBe('Withdrawn/False Withdrawn');
  await told.world.pass(120);
  expect(await told.staying()).toHaveLength(4);
});

test('5.3: one request for one member tells the whole group at once, and the group goes when all are saved', async () => {
  told = await Told.start(BY_SAVER);
  const all = await told.members();
  await ask('mine', all[2]);
  await told.world.pass(3);
  const asked = (await requests()).map(({ spec }) => `${spec?.target?.pod?.name} ${spec?.requester}`).sort();
  expect(asked).toEqual(
    all.map(({ metadata }, at) => `${metadata.name} ${at === 2 ? 'example.com/drain' : NOTICE_ASKS}`).sort(),
  );
  for (const pod of all) {
    await told.world.pass(1);
    expect(await told.staying()).toHaveLength(4);
    await completes(pod);
  }
  await told.world.pass(10);
  expect((await groupEvictions()).map(standOf)).toEqual(['Done/True AllMembersEvicted']);
  const mine = await told.client.get(evictionRequestType, { namespace, name: 'mine' });
  expect(mine.status?.conditions?.find(({ type }) => type === 'TargetEvicted')?.status).toBe('True');
});

test('5.3: requests that are all withdrawn while the group is told leave it as it is, by whichever channel', async () => {
  told = await Told.start({ duration: '60s' });
  const all = await told.members();
  await ask('a', all[0]);
  await ask('b', all[1]);
  await told.world.pass(10);
  expect((await groupEvictions()).map(standOf)).toEqual(['Running/-']);
  await intend('a', 'Withdrawn');
  await told.world.pass(5);
  expect((await groupEvictions()).map(standOf)).toEqual(['Running/-']);
  await intend('b', 'Withdrawn');
  await told.world.pass(5);
  expect((await groupEvictions()).map(standOf)).toEqual(['Withdrawn/False Withdrawn']);
  await told.world.pass(120);
  expect(await told.staying()).toHaveLength(4);
  await intend('b', 'Eviction');
  await told.world.pass(90);
  expect(await told.staying()).not.toEqual(all);
});

test('5.3: deleting the only request takes the notice back', async () => {
  told = await Told.start(BY_SAVER);
  await ask('mine', (await told.members())[0]);
  await told.world.pass(5);
  expect((await groupEvictions()).map(standOf)).toEqual(['Running/-']);
  await told.client.delete(evictionRequestType, { namespace, name: 'mine' });
  await told.world.pass(120);
  expect(await told.staying()).toHaveLength(4);
  for (const { status } of await evictions()) {
    expect(status?.conditions?.find(({ type }) => type === 'Failed')?.status).toBe('True');
  }
});

test('NT-14: by EvictionRequests, the eviction of a member begins the same notice', async () => {
  told = await Told.start(BY_SAVER);
  const all = await told.members();
  expect(await told.evict(all[0])).toMatchObject({ code: 429 });
  await told.world.pass(2);
  expect(await requests()).toHaveLength(4);
  for (const pod of all) await completes(pod);
  await told.world.pass(2);
  expect((await groupEvictions()).map(standOf)).toEqual(['Done/True AllMembersEvicted']);
});

test('without a responder for the group those of the pods are told; where no pod has one, nobody is', async () => {
  told = await Told.start(undefined, { gangs: 0 });
  await told.policy('told', { duration: '60s', channels: [{ type: 'EvictionRequest' }], onUndelivered: 'Refuse' });
  const alone = async (name: string, spec: object): Promise<Pod> => {
    const containers = [{ name: 'c', image: 'app:1' }];
    await told.client.create(podType, {
      metadata: { name, namespace },
      spec: { nodeName: 'node-0', containers, ...spec },
    });
    await told.world.pass(5);
    return told.client.get(podType, { namespace, name });
  };
  const saved = await alone('saved', { evictionResponders: [{ name: SAVER, priority: 20_000 }] });
  expect((await told.evict(saved)).causes[0]).toBe('NoticeRunning');
  await told.world.pass(2);
  await completes(saved);
  await told.world.pass(2);
  const mute = await alone('mute', {});
  expect((await told.evict(mute)).causes[0]).toBe('NoticeRunning');
  await told.world.pass(2);
  expect((await groupEvictions()).map(standOf).sort()).toEqual([
    'Done/True AllMembersEvicted',
    'Undelivered/False NoticeUndelivered',
  ]);
});

test('5.3: a request for a pod on its own is told like a group, and withdrawn with it', async () => {
  told = await Told.start({ duration: '60s' }, { gangs: 0 });
  await told.client.create(podType, {
    metadata: { name: 'alone', namespace },
    spec: { nodeName: 'node-0', containers: [{ name: 'c', image: 'app:1' }] },
  });
  await told.world.pass(5);
  await ask('mine', await told.client.get(podType, { namespace, name: 'alone' }));
  await told.world.pass(5);
  expect((await groupEvictions()).map(({ spec }) => spec?.podName)).toEqual(['alone']);
  const message = (await evictions())[0]?.status?.responders?.[0]?.message;
  expect(message).toMatch(/^its group is told first: .* at the latest at /);
  await intend('mine', 'Withdrawn');
  await told.world.pass(3);
  expect((await groupEvictions()).map(standOf)).toEqual(['Withdrawn/False Withdrawn']);
});

test('a pod, and a policy, that come right after a look at their namespace are not missed', async () => {
  told = await Told.start(undefined, { gangs: 0 });
  const alone = async (name: string): Promise<Pod> => {
    const spec = { nodeName: 'node-0', containers: [{ name: 'c', image: 'app:1' }] };
    const made = await told.client.create(podType, { metadata: { name, namespace }, spec });
    const conditions = [{ type: 'Ready', status: 'True' }];
    const body = { status: { phase: 'Running', conditions } };
    await told.client.patch(podType, { namespace, name }, { type: 'strategic', body }, { subresource: 'status' });
    return made;
  };
  // No time passes between what is asked for and what comes then.
  await ask('first', await alone('first'));
  await told.world.plane.settle();
  await told.client.create(disruptionPolicyType, {
    metadata: { name: 'late', namespace },
    spec: { selector: {}, notice: BY_SAVER },
  });
  await told.world.plane.settle();
  await ask('second', await alone('second'));
  await told.world.plane.settle();
  await ask('third', await alone('third'));
  await told.world.plane.settle();
  for (const name of ['pod-1-second', 'pod-1-third']) {
    const eviction = await told.client.get(evictionType, { namespace, name });
    expect(turns(eviction)[0]).toBe(`${SAVER} 10000 Active`);
  }
});

test('NT-12: where no request may be made nobody is told: it goes at the deadline, or stays', async () => {
  told = await Told.start({ ...BY_SAVER, onUndelivered: 'Refuse' });
  const refused = told.world.plane.faults.answer(403, { method: 'POST', path: '/evictionrequests' });
  await told.ask();
  await told.world.pass(3);
  expect(refused.met).toBeGreaterThan(0);
  expect(standOf(await told.get())).toBe('Undelivered/False NoticeUndelivered');
  expect(await told.staying()).toHaveLength(4);
});

test('NT-02: requests that the server does not take now are tried again, and the group goes at the deadline', async () => {
  told = await Told.start(BY_SAVER);
  const down = told.world.plane.faults.answer(503, { method: 'POST', path: '/evictionrequests' });
  await told.ask();
  await told.world.pass(20);
  expect(await requests()).toEqual([]);
  down.stop();
  await told.world.pass(6);
  expect(await requests()).toHaveLength(4);
  told.world.plane.faults.answer(503, { method: 'POST', path: '/evictionrequests' });
  await told.world.pass(37);
  expect(standOf(await told.get())).toBe('TimedOut/True AllMembersEvicted');
});

test('NT-02: a server that never takes a request holds no group beyond its deadline', async () => {
  told = await Told.start(BY_SAVER);
  told.world.plane.faults.answer(503, { method: 'POST', path: '/evictionrequests' });
  await told.ask();
  await told.world.pass(59);
  expect(await told.staying()).toHaveLength(4);
  await told.world.pass(3);
  expect(standOf(await told.get())).toBe('TimedOut/True AllMembersEvicted');
});

/** Groups that are told before they go, on a whole control plane. */
import { afterEach, expect, test } from 'vitest';
import { disruptionPolicyType } from '../../../src/api/quorate/disruption-policy.ts';
import { groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { ACKNOWLEDGED, namespace, NOTICE, standOf, Told } from './fixture.ts';
import { addGroup, ask } from './pods.ts';

let told: Told;
afterEach(() => told.world.stop());

test('NT-01: eight members acknowledge after 5 to 40 s; none goes before the last, all go within 2 s after', async () => {
  told = await Told.start({ duration: '60s' }, { size: 8 });
  const asked = await told.ask();
  expect(asked.status?.conditions?.map(({ reason, type }) => `${type} ${reason}`)).toEqual(['Noticed NoticeRunning']);
  for (let at = 0; at < 8; at += 1) {
    await told.world.pass(5);
    expect(await told.staying()).toHaveLength(8);
    await told.acknowledge((await told.members())[at]);
  }
  await told.world.pass(2);
  const after = await told.get();
  expect(standOf(after)).toBe('Done/True AllMembersEvicted');
  expect(after.status?.evictedPods).toHaveLength(8);
  expect(after.metadata.finalizers).toBeUndefined();
  expect(after.status?.notice?.members?.map(({ state, via }) => `${state} ${via}`)).toEqual(
    Array.from({ length: 8 }, () => 'Acknowledged Pod'),
  );
});

test('NT-02: one mute member delays to 60 s, not longer; every member finds the notice on its pod', async () => {
  told = await Told.start({ duration: '60s' });
  await told.ask('ask', { podGroupName: 'g0', reason: 'kernel' });
  await told.world.pass(1);
  const [mute, ...others] = await told.members();
  const found = JSON.parse(mute?.metadata.annotations?.[NOTICE] ?? '{}') as Record<string, unknown>;
  const { deadline, id } = (await told.get()).status?.notice ?? {};
  expect(found).toEqual({ id, deadline, group: 'default/PodGroup/g0', reason: 'kernel' });
  const condition = mute?.status?.conditions?.find(({ type }) => type === 'quorate.dev/DisruptionNotice');
  expect([condition?.status, condition?.reason]).toEqual(['True', 'GroupEviction']);
  for (const pod of others) await told.acknowledge(pod);
  await told.world.pass(58);
  expect(await told.staying()).toHaveLength(4);
  await told.world.pass(3);
  expect(standOf(await told.get())).toBe('TimedOut/True AllMembersEvicted');
});

test('NT-03: withdrawn at any moment before, nothing goes, and what was kept is given back', async () => {
  told = await Told.start({ duration: '60s' }, { allowed: 1, gangs: 2 });
  for (const seconds of [0, 20, 55]) {
    const name = `ask-${seconds}`;
    await told.ask(name);
    await told.world.pass(seconds);
    // Kept for the group that is told: nobody else gets it.
    expect((await told.evict((await told.members('g1'))[0], true)).code).toBe(429);
    await told.withdraw(name);
    await told.world.pass(2);
    expect(standOf(await told.get(name))).toBe('Withdrawn/False Withdrawn');
    const pods = await told.staying();
    expect(pods).toHaveLength(4);
    for (const { metadata, status } of pods) {
      expect(metadata.annotations?.[NOTICE]).toBeUndefined();
      const conditions = status?.conditions?.filter(({ type }) => type === 'quorate.dev/DisruptionNotice');
      expect(conditions?.filter(({ status }) => status === 'True')).toEqual([]);
    }
    const budget = await told.client.get(podDisruptionBudgetType, { namespace, name: 'budget-g' });
    expect(budget.status?.disruptionsAllowed).toBe(1);
    expect(budget.status?.disruptedPods).toBeUndefined();
  }
});

test('NT-04: of two that ask, one withdraws and it goes on; both, and nothing goes', async () => {
  told = await Told.start({ duration: '60s' });
  await told.ask('first');
  const second = await told.ask('second');
  expect(second.status?.joined).toBe('first');
  await told.world.pass(5);
  await told.withdraw('first');
  await told.world.pass(5);
  expect(standOf(await told.get('first'))).toBe('Running/-');
  expect((await told.get('first')).status?.notice?.requesters).toEqual([
    { name: 'first', withdrawn: true },
    { name: 'second' },
  ]);
  await told.withdraw('second');
  await told.world.pass(2);
  expect(standOf(await told.get('first'))).toBe('Withdrawn/False Withdrawn');
  expect(standOf(await told.get('second'))).toBe('-/False Withdrawn');
  expect(await told.staying()).toHaveLength(4);
});

test('NT-05: a withdrawal after the first pod went comes too late', async () => {
  told = await Told.start({ duration: '60s' });
  await told.ask('first');
  await told.ask('second');
  await told.world.pass(1);
  await told.acknowledgeAll();
  await told.world.pass(2);
  await told.withdraw('first');
  await told.world.pass(2);
  const { status } = await told.get('first');
  expect(status?.evictedPods).toHaveLength(4);
  expect(status?.conditions?.find(({ type }) => type === 'Withdrawn')).toMatchObject({
    status: 'False',
    reason: 'TooLate',
  });
  expect((await told.get('second')).status?.evictedPods).toHaveLength(4);
});

test('NT-06: another ID, as annotation or condition, acknowledges nothing', async () => {
  told = await Told.start({ duration: '60s' });
  await told.ask();
  await told.world.pass(1);
  for (const pod of await told.members()) await told.acknowledge(pod, 'another');
  await told.world.pass(10);
  expect(standOf(await told.get())).toBe('Running/-');
  const { id = '' } = (await told.get()).status?.notice ?? {};
  for (const { metadata } of await told.members()) {
    const conditions = [{ type: 'quorate.dev/NoticeAcknowledged', status: 'True', message: id }];
    const key = { namespace, name: metadata.name ?? '' };
    await told.client.patch(
      podType,
      key,
      { type: 'strategic', body: { status: { conditions } } },
      { subresource: 'status' },
    );
  }
  await told.world.pass(2);
  expect(standOf(await told.get())).toBe('Done/True AllMembersEvicted');
});

test('NT-07: with from: Leader a worker is not waited for, and its word does not count', async () => {
  told = await Told.start({ duration: '60s', acknowledgement: { from: 'Leader' } });
  const [leader, worker] = await told.members();
  const labels = { 'policy.quorate.dev/leader': '' };
  const key = { namespace, name: leader?.metadata.name ?? '' };
  await told.client.patch(podType, key, { type: 'merge', body: { metadata: { labels } } });
  await told.ask();
  await told.world.pass(2);
  await told.acknowledge((await told.members()).find(({ metadata }) => metadata.name === worker?.metadata.name));
  await told.world.pass(2);
  expect(standOf(await told.get())).toBe('Running/-');
  const [now] = await told.members();
  expect(JSON.parse(now?.metadata.annotations?.[NOTICE] ?? '{}')).toMatchObject({ leader: leader?.metadata.name });
  await told.acknowledge(now);
  await told.world.pass(2);
  expect(standOf(await told.get())).toBe('Done/True AllMembersEvicted');
});

test('NT-08: a member that is deleted counts as done, and who comes for it is told and waited for', async () => {
  told = await Told.start({ duration: '60s' });
  const { deadline } = (await told.ask()).status?.notice ?? {};
  await told.world.pass(2);
  const [gone, ...others] = await told.members();
  for (const pod of others) await told.acknowledge(pod);
  await told.client.delete(podType, { namespace, name: gone?.metadata.name ?? '' });
  await told.world.pass(1);
  // Its ReplicaSet makes another one at once.
  const states = (await told.get()).status?.notice?.members?.map(({ state }) => state);
  expect(states?.filter((state) => state === 'Gone')).toHaveLength(1);
  expect(states).toHaveLength(5);
  await told.world.pass(20);
  expect(await told.staying()).toHaveLength(4);
  expect((await told.get()).status?.notice?.deadline).toBe(deadline);
  const fresh = (await told.members()).find(({ metadata }) => metadata.annotations?.[ACKNOWLEDGED] === undefined);
  await told.acknowledge(fresh);
  await told.world.pass(2);
  expect(standOf(await told.get())).toBe('Done/True AllMembersEvicted');
});

test('NT-14: plain evictions get 429 until the group went, and make one GroupEviction', async () => {
  told = await Told.start({ duration: '60s' });
  const dry = await told.evict((await told.members())[0], true);
  expect(dry.code).toBe(201);
  expect((await told.client.list(groupEvictionType, { namespace })).items).toEqual([]);
  for (let round = 0; round < 4; round += 1) {
    const answer = await told.evict((await told.members())[round]);
    expect(answer).toMatchObject({ code: 429, causes: ['NoticeRunning', 'policy.quorate.dev/next-allowed'] });
    expect(answer.message).toContain('default/PodGroup/g0 is told that it has to go');
    await told.world.pass(5);
  }
  const { items } = await told.client.list(groupEvictionType, { namespace });
  expect(items.map(({ metadata }) => metadata.labels)).toEqual([{ 'policy.quorate.dev/origin': 'eviction' }]);
  const [first] = await told.members();
  await told.acknowledgeAll();
  await told.world.pass(2);
  expect([201, 404]).toContain((await told.evict(first)).code);
});

test('NT-16: what budgets hold at the end is kept asking, and stays after ten minutes', async () => {
  told = await Told.start({ duration: '30s' }, { gangs: 2 });
  await told.ask();
  await told.world.pass(2);
  const spec = { maxUnavailable: 0, selector: {} };
  const annotations = { 'policy.quorate.dev/group-by': 'unknown' };
  await told.client.create(podDisruptionBudgetType, { metadata: { name: 'shut', namespace, annotations }, spec });
  await told.world.pass(2);
  await told.acknowledgeAll();
  await told.world.pass(10);
  const held = await told.get();
  expect(standOf(held)).toBe('Held/-');
  expect(held.status?.notice?.members?.every(({ state }) => state === 'Acknowledged')).toBe(true);
  await told.client.delete(podDisruptionBudgetType, { namespace, name: 'shut' });
  await told.world.pass(6);
  expect(standOf(await told.get())).toBe('Done/True AllMembersEvicted');

  await told.ask('again', { podGroupName: 'g1' });
  await told.client.create(podDisruptionBudgetType, { metadata: { name: 'shut', namespace, annotations }, spec });
  await told.world.pass(640);
  expect(standOf(await told.get('again'))).toBe('Withdrawn/False HeldTooLong');
  expect(await told.staying('g1')).toHaveLength(4);
});

test('NT-17: a clock that jumps neither shortens nor lengthens a notice', async () => {
  told = await Told.start({ duration: '60s' });
  await told.ask();
  await told.world.pass(10);
  const { clock } = told.world.plane;
  clock.set(clock.now() + 3_600_000);
  await told.world.pass(48);
  expect(await told.staying()).toHaveLength(4);
  await told.world.pass(4);
  expect(standOf(await told.get())).toBe('TimedOut/True AllMembersEvicted');
});

test('NT-10: with every member deleted there is nothing to do, and the budget is free', async () => {
  told = await Told.start(undefined, { gangs: 0 });
  await addGroup(told.world.plane, { duration: '60s' });
  const key = { namespace, name: 'groups' };
  await told.client.create(podDisruptionBudgetType, { metadata: key, spec: { maxUnavailable: 1, selector: {} } });
  await told.world.pass(1);
  await ask(told.world.plane);
  await told.world.pass(1);
  const disrupted = async () => (await told.client.get(podDisruptionBudgetType, key)).status?.disruptedPods;
  expect(Object.keys((await disrupted()) ?? {})).toEqual(['a0', 'a1']);
  for (const name of ['a0', 'a1']) await told.client.delete(podType, { namespace, name }, { gracePeriodSeconds: 0 });
  await told.world.pass(2);
  expect(standOf(await told.get())).toBe('Superseded/False Superseded');
  expect(await disrupted()).toBeUndefined();
});

test('a pod on its own is a group of one, and is told too', async () => {
  told = await Told.start({ duration: '60s' }, { gangs: 0 });
  await told.client.create(podType, {
    metadata: { name: 'alone', namespace },
    spec: { nodeName: 'node-0', containers: [{ name: 'c', image: 'app:1' }] },
  });
  await told.world.pass(5);
  const pod = await told.client.get(podType, { namespace, name: 'alone' });
  expect((await told.evict(pod)).causes[0]).toBe('NoticeRunning');
  await told.world.pass(1);
  await told.acknowledge(await told.client.get(podType, { namespace, name: 'alone' }));
  await told.world.pass(2);
  const { items } = await told.client.list(groupEvictionType, { namespace });
  expect(items.map(({ spec }) => spec?.podName)).toEqual(['alone']);
  expect(items.map(standOf)).toEqual(['Done/True AllMembersEvicted']);
});

test('DP-12: of two policies the one with the longer time gives notice, and limits of both are asked', async () => {
  told = await Told.start({ duration: '60s' });
  await told.client.create(disruptionPolicyType, {
    metadata: { name: 'a', namespace },
    spec: { selector: {}, notice: { duration: '600s' }, limits: { maxDisruptions: [{ count: 1, per: '1h' }] } },
  });
  await told.world.pass(1);
  const { deadline = '', policy, startedAt = '' } = (await told.ask()).status?.notice ?? {};
  expect(policy).toBe('a');
  expect(Date.parse(deadline) - Date.parse(startedAt)).toBe(600_000);
  const ledger = (await told.client.get(disruptionPolicyType, { namespace, name: 'a' })).status?.ledger ?? [];
  expect(ledger.find(({ group }) => group === 'PodGroup/g0')?.disruptions?.map(({ state }) => state)).toEqual([
    'Reserved',
  ]);
  await told.world.pass(300);
  await told.withdraw();
  await told.world.pass(2);
  const after = (await told.client.get(disruptionPolicyType, { namespace, name: 'a' })).status?.ledger ?? [];
  expect(after.find(({ group }) => group === 'PodGroup/g0')?.disruptions).toBeUndefined();
});

test('a GroupEviction that is deleted while its group is told is withdrawn first', async () => {
  told = await Told.start({ duration: '60s' });
  await told.ask();
  await told.world.pass(2);
  await told.client.delete(groupEvictionType, { namespace, name: 'ask' });
  await told.world.pass(2);
  expect((await told.client.list(groupEvictionType, { namespace })).items).toEqual([]);
  for (const { metadata } of await told.staying()) expect(metadata.annotations?.[NOTICE]).toBeUndefined();
});

test('without notice a group goes as it is asked for', async () => {
  told = await Told.start(undefined);
  expect(standOf(await told.ask())).toBe('-/True AllMembersEvicted');
  expect((await told.get()).metadata.finalizers).toBeUndefined();
});

test('a new GroupEviction cannot be withdrawn already; a withdrawn one cannot be revived, nor any other field changed', async () => {
  told = await Told.start({ duration: '60s' });
  await expect(told.ask('no', { podGroupName: 'g0', intent: 'Withdrawn' })).rejects.toThrow('spec.intent');
  await told.ask();
  const change = (spec: object) =>
    told.client.patch(groupEvictionType, { namespace, name: 'ask' }, { type: 'merge', body: { spec } });
  await expect(change({ reason: 'other' })).rejects.toThrow('but for spec.intent');
  await told.withdraw();
  await expect(change({ intent: 'Evict' })).rejects.toThrow('stays withdrawn');
  await expect(change({ intent: null })).rejects.toThrow('stays withdrawn');
});

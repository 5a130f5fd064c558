/** What users get to read when their groups cannot work. */
import { expect, test } from 'vitest';
import { isInvalid } from '../../../src/machinery/runtime/index.ts';
import { onStage, podGroupType, type Stage, workloadType } from './stage.ts';

/** What the condition of a pod says, and whether an event says the same. */
async function told(stage: Stage, name: string): Promise<{ message: string | undefined; inEvent: boolean }> {
  const { status } = await stage.pod(name);
  const message = status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message;
  const events = await stage.events('FailedScheduling');
  const inEvent = events.some((event) => event.involvedObject.name === name && event.message === message);
  return { message, inEvent };
}

const templates = (...names: string[]) => ({
  metadata: { name: 'w', namespace: 'default' },
  spec: { podGroupTemplates: names.map((name) => ({ name, schedulingPolicy: { gang: { minCount: 2 } } })) },
});

test('a dangling reference names what is missing, link by link', () =>
  onStage({ nodes: [4] }, async (stage) => {
    await stage.addPod('a', { group: 'nowhere' });
    await stage.addPod('b', { spec: { workloadRef: { name: 'w', podGroup: 'p' } } });
    await stage.pass(5);
    expect(await told(stage, 'a')).toEqual({ message: 'Waiting: PodGroup "nowhere" does not exist', inEvent: true });
    expect(await told(stage, 'b')).toEqual({ message: 'Waiting: Workload "w" does not exist', inEvent: true });
    await stage.client.create(workloadType('v1beta1'), templates('other'));
    await stage.pass(5);
    const { inEvent, message } = await told(stage, 'b');
    expect([message, inEvent]).toEqual([expect.stringContaining('"p"'), true]);
    expect(await stage.bound()).toEqual([]);
  }));

test('a minCount above the size of the group says how many members are missing', () =>
  onStage({ nodes: [8] }, async (stage) => {
    await stage.addGang('g', 5);
    await stage.addMembers('g', 3);
    await stage.pass(5);
    const { inEvent, message } = await told(stage, 'g-0');
    expect([message, inEvent]).toEqual([expect.stringMatching(/^Waiting: .*\b3\b.*\b5\b/), true]);
    expect(await stage.condition('g')).toMatchObject({ status: 'False', reason: 'Unschedulable', message });
    expect(await stage.bound()).toEqual([]);
  }));

test('a group larger than the cluster says what there is too little of', () =>
  onStage({ nodes: [2, 2] }, async (stage) => {
    await stage.addGang('g', 5);
    await stage.addMembers('g', 5);
    await stage.pass(5);
    const { inEvent, message } = await told(stage, 'g-0');
    expect(message).toContain('4 of 5 pods of group "g" fit, at least 5 needed');
    expect(message).toContain('2 Insufficient cpu');
    expect(inEvent).toBe(true);
    expect(await stage.condition('g')).toMatchObject({ status: 'False', reason: 'Unschedulable', message });
  }));

test('duplicate template names and changed immutables are refused with the field that is wrong', () =>
  onStage({}, async (stage) => {
    const refused = async (attempt: Promise<unknown>): Promise<string> => {
      const error = await attempt.then(
        () => new Error('accepted'),
        (reason: Error) => reason,
      );
      expect(error).toSatisfy(isInvalid);
      return error.message;
    };
    const type = workloadType('v1beta1');
    expect(await refused(stage.client.create(type, templates('a', 'a')))).toContain('spec.podGroupTemplates[1]');
    await stage.client.create(type, templates('a'));
    const key = { namespace: 'default', name: 'w' };
    const renamed = { type: 'merge', body: { spec: templates('b').spec } } as const;
    expect(await refused(stage.client.patch(type, key, renamed))).toContain('spec.podGroupTemplates');
    await stage.addGang('g', 2);
    const basic = { type: 'merge', body: { spec: { schedulingPolicy: { gang: null, basic: {} } } } } as const;
    const changed = stage.client.patch(podGroupType, { namespace: 'default', name: 'g' }, basic);
    expect(await refused(changed)).toContain('spec.schedulingPolicy');
  }));

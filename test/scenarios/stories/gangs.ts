/** The stories of gang scheduling: all of a group, or none of it. */
import { expect, test } from 'vitest';
import { basicGroup, member, podGroup, workload } from './groups.ts';
import { apply, begin, podsOf, type StoryHost, until } from './host.ts';
import { bound, groupSays, large, lose, makeRoom, untilBound, untilTold } from './room.ts';

export function tellGangStories(on: () => StoryHost): void {
  test('of two gangs with room for one, one is placed whole and the other not at all until there is room', async () => {
    const host = on();
    const { groups } = host;
    await begin(
      host,
      'gangs',
      workload(groups, 'train', 3),
      ...['a', 'b'].map((name) => podGroup(groups, name, 'train', 3)),
    );
    // Members that come one by one wait for each other.
    await apply(host, 'gangs', large(host, 'a', 0), large(host, 'a', 1));
    await apply(host, 'gangs', large(host, 'b', 0), large(host, 'b', 1), large(host, 'b', 2));
    await untilBound(host, 'gangs', 3, 'b');
    await apply(host, 'gangs', large(host, 'a', 2));
    await until('a to be found too large', async () => {
      return (await groupSays(host, 'gangs', 'a')).includes('False=Unschedulable');
    });
    expect(await bound(host, 'gangs', 'a')).toEqual([]);
    await lose(host, 'gangs', 'b-0', 'b-1', 'b-2');
    await untilBound(host, 'gangs', 3, 'a');
    expect(await podsOf(host, 'gangs')).toEqual(['a-0', 'a-1', 'a-2']);
    await makeRoom(host, 'gangs');
  });

  test('S4-05 G-02 members beyond the minimum wait for room, and the gang stays scheduled', async () => {
    const host = on();
    const { groups } = host;
    await begin(host, 'beyond', workload(groups, 'train', 2), podGroup(groups, 'a', 'train', 2));
    await apply(host, 'beyond', ...[0, 1, 2, 3].map((at) => large(host, 'a', at)));
    await untilBound(host, 'beyond', 3);
    const [first = '', ...others] = await bound(host, 'beyond');
    const waiting = (await podsOf(host, 'beyond')).find((name) => name !== first && !others.includes(name)) ?? '';
    await untilTold(host, 'beyond', waiting, /Insufficient cpu/);
    expect(await groupSays(host, 'beyond', 'a')).toContain('True=Scheduled');
    await lose(host, 'beyond', first);
    await untilBound(host, 'beyond', 3);
    expect(await bound(host, 'beyond')).toEqual([waiting, ...others].sort());
    await makeRoom(host, 'beyond');
  });

  test('G-10 of a group without a minimum what fits is placed, and the group is scheduled', async () => {
    const host = on();
    await begin(host, 'basic', basicGroup(host.groups, 'a'));
    await apply(host, 'basic', ...[0, 1, 2, 3].map((at) => large(host, 'a', at)));
    await untilBound(host, 'basic', 3);
    await until('the group to be scheduled', async () => {
      return (await groupSays(host, 'basic', 'a')).includes('True=Scheduled');
    });
    await makeRoom(host, 'basic');
  });

  test('S4-02 G-09 members wait for their PodGroup, then for the gate on one of them, and are told so', async () => {
    const host = on();
    const { groups, kubectl, schedulerName } = host;
    await begin(host, 'gated', workload(groups, 'train', 2));
    const gates = { schedulingGates: [{ name: 'example.com/wait' }] };
    await apply(
      host,
      'gated',
      member('a', 'gated', { schedulerName, ...gates }),
      ...[0, 1].map((at) => member('a', at, { schedulerName })),
    );
    await untilTold(host, 'gated', 'a-0', /Waiting: PodGroup "a" does not exist/);
    await apply(host, 'gated', podGroup(groups, 'a', 'train', 2));
    await until('the gate to be told', async () => {
      return (await groupSays(host, 'gated', 'a')).includes('member "a-gated" of group "a" is gated');
    });
    expect(await bound(host, 'gated')).toEqual([]);
    const open = '{"spec":{"schedulingGates":null}}';
    await kubectl.run(['patch', 'pod', 'a-gated', '-n', 'gated', '--type=merge', '-p', open]);
    await untilBound(host, 'gated', 3);
    await makeRoom(host, 'gated');
  });

  test('G-05 G-06 a lost member is replaced alone while enough are there, and is waited for while not', async () => {
    const host = on();
    const { groups, schedulerName } = host;
    const small = (at: number): object => member('a', at, { schedulerName });
    await begin(host, 'replaced', workload(groups, 'train', 3), podGroup(groups, 'a', 'train', 3));
    await apply(host, 'replaced', small(0), small(1), small(2));
    await untilBound(host, 'replaced', 3);
    await lose(host, 'replaced', 'a-0');
    await apply(host, 'replaced', small(3));
    await untilBound(host, 'replaced', 3);
    await lose(host, 'replaced', 'a-1', 'a-2');
    await apply(host, 'replaced', small(4));
    await untilTold(host, 'replaced', 'a-4', /Waiting: group "a" has 2 of at least 3 members/);
    expect(await bound(host, 'replaced')).toEqual(['a-3']);
    await apply(host, 'replaced', small(5));
    await untilBound(host, 'replaced', 3);
    await makeRoom(host, 'replaced');
  });
}

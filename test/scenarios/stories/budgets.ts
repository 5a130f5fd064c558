/** The stories of KEP-5682: a budget that counts groups, an eviction at a time and with the real kubectl drain. */
import { expect, test } from 'vitest';
import { drainNodes } from '../../../src/tasks/index.ts';
import { systemClock } from '../../../src/machinery/runtime/index.ts';
import { budget, gangs, member, podGroup, workload } from './groups.ts';
import { apply, askEviction, begin, codesOf, end, evict, podsOf, type StoryHost, until, untilAllowed } from './host.ts';

const DRAIN = ['--force', '--ignore-daemonsets', '--delete-emptydir-data'];

async function quorateDrain({ client }: StoryHost, node: string) {
  return drainNodes(
    { client, clock: systemClock, report: { step: () => {}, progress: () => {} } },
    {
      nodes: [node],
      allOrNothing: true,
      dryRun: false,
      timeoutMs: 20_000,
      rules: { force: true, ignoreDaemonSets: true, deleteEmptyDirData: true, skipWaitForDeleteTimeoutSeconds: 0 },
    },
  );
}

export function tellBudgetStories(on: () => StoryHost): void {
  test('X1 ten gangs of eight with minAvailable 9: one gang may go, whole, and no other', async () => {
    const host = on();
    await begin(host, 'ten', ...gangs(host.groups, 10, 8), budget({ minAvailable: 9 }));
    await untilAllowed(host, 'ten', 1);
    const whole = Array.from({ length: 8 }, (_, at) => `g4-${at}`);
    expect(await codesOf(host, 'ten', ...whole)).toEqual(whole.map(() => 201));
    await untilAllowed(host, 'ten', 0);
    const refused = await evict(host, 'ten', 'g5-0');
    expect(refused).toMatchObject({
      code: 429,
      message: expect.stringContaining("Cannot evict pod as it would violate the pod's disruption budget"),
    });
    expect(refused.causes[0]).toMatchObject({
      reason: 'DisruptionBudget',
      message: expect.stringMatching(/The disruption budget train needs 9 healthy pod groups and has 9 currently/),
    });
    expect(refused.causes.map(({ reason }) => reason)).toContain('QuorateGroup');
    await end(host, 'ten');
  });

  test('X2 three nodes: quorate drain refuses node B untouched, kubectl drain never has both gangs down', async () => {
    const host = on();
    const { groups, kubectl } = host;
    const at = (group: string, index: number, node: string) => member(group, index, { nodeName: node });
    await begin(
      host,
      'three',
      workload(groups, 'train', 3),
      podGroup(groups, 'a', 'train', 3),
      podGroup(groups, 'b', 'train', 3),
      at('a', 0, 'node-0'),
      at('a', 1, 'node-0'),
      at('a', 2, 'node-1'),
      at('b', 0, 'node-1'),
      at('b', 1, 'node-2'),
      at('b', 2, 'node-2'),
      budget({ minAvailable: 1 }),
    );
    await untilAllowed(host, 'three', 1);
    expect((await quorateDrain(host, 'node-1')).outcome).toBe('Refused');
    expect(await podsOf(host, 'three')).toHaveLength(6);

    let refused = false;
    const drained = kubectl.run(['drain', 'node-1', ...DRAIN, '--timeout=240s'], {
      hear: (stderr) => (refused = stderr.includes("would violate the pod's disruption budget")),
    });
    await until('one to go and the other to be refused', async () => {
      return refused && (await podsOf(host, 'three')).length === 5;
    });
    const left = await podsOf(host, 'three');
    // The gang that lost a pod gets it back on another node; then the rest of the node may go.
    await apply(host, 'three', at(left.includes('a-2') ? 'b' : 'a', 3, 'node-0'));
    await drained;
    expect(await podsOf(host, 'three')).toHaveLength(5);
    await kubectl.run(['uncordon', 'node-1']);
    await end(host, 'three');
  });

  test('X3 with maxUnavailable 0 surplus pods are free, the one below the minimum is not', async () => {
    const host = on();
    await begin(host, 'surplus', ...gangs(host.groups, 2, 4, 2), budget({ maxUnavailable: 0 }));
    await untilAllowed(host, 'surplus', 0);
    expect(await codesOf(host, 'surplus', 'g0-0', 'g0-1', 'g0-2')).toEqual([201, 201, 429]);
    await end(host, 'surplus');
  });

  test('X4 gangs without pods are unavailable, and percentages count them', async () => {
    const host = on();
    const empty = [8, 9].map((index) => podGroup(host.groups, `g${index}`, 'train', 1));
    await begin(host, 'absent', ...gangs(host.groups, 8, 1), ...empty, budget({ minAvailable: '80%' }));
    await untilAllowed(host, 'absent', 0);
    expect(await codesOf(host, 'absent', 'g0-0')).toEqual([429]);
    await apply(host, 'absent', member('g8', 0, { nodeName: 'node-0' }));
    await untilAllowed(host, 'absent', 1);
    expect(await codesOf(host, 'absent', 'g0-0', 'g1-0')).toEqual([201, 429]);
    await until('the pod to go', async () => !(await podsOf(host, 'absent')).includes('g0-0'));
    await end(host, 'absent');
  });

  test('a budget that looks ahead refuses the first pod of a cordoned node it could not empty', async () => {
    const host = on();
    const { groups, kubectl } = host;
    const at = (group: string, index: number, node: string) => member(group, index, { nodeName: node });
    await begin(
      host,
      'ahead',
      workload(groups, 'train', 2),
      ...['a', 'b'].map((name) => podGroup(groups, name, 'train', 2)),
      at('a', 0, 'node-0'),
      at('a', 1, 'node-1'),
      at('b', 0, 'node-1'),
      at('b', 1, 'node-2'),
      budget({ minAvailable: 1 }, { 'policy.quorate.dev/drain-lookahead': 'Node' }),
    );
    await untilAllowed(host, 'ahead', 1);
    expect((await askEviction(host, 'ahead', 'a-1')).code).toBe(201);
    await kubectl.run(['cordon', 'node-1']);
    await until('the cordon to be seen', async () => (await askEviction(host, 'ahead', 'a-1')).code === 429);
    const refused = await evict(host, 'ahead', 'a-1');
    expect(refused.code).toBe(429);
    expect(refused.causes[0]?.message).toContain('NodeNotDrainable');
    expect(await podsOf(host, 'ahead')).toHaveLength(4);
    // From a node that is not being drained a pod of the same gang may go.
    expect(await codesOf(host, 'ahead', 'a-0')).toEqual([201]);
    await kubectl.run(['uncordon', 'node-1']);
    await end(host, 'ahead');
  });
}

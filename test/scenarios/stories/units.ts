/** Stories of when a PodDisruptionBudget counts groups, when pods, and what it says about it. */
import { expect, test } from 'vitest';
import { budget, gangs, member, numbersOf, podGroup, untilMode, workload } from './groups.ts';
import { apply, begin, codesOf, end, evict, pod, type StoryHost, until, untilAllowed, untilEvent } from './host.ts';

export function tellUnitStories(on: () => StoryHost): void {
  /** Members that still run hold a PodGroup that is deleted; this takes it away at once. */
  const removeGroup = async (namespace: string, name: string): Promise<void> => {
    const { kubectl } = on();
    await kubectl.run(['delete', 'podgroup', name, '-n', namespace, '--wait=false']);
    await until(`PodGroup ${name} to be gone`, async () => {
      const left = await kubectl.out('get', 'podgroup', '-n', namespace, '-o', 'jsonpath={.items[*].metadata.name}');
      if (!left.split(' ').includes(name)) return true;
      const free = '{"metadata":{"finalizers":null}}';
      await kubectl.run(['patch', 'podgroup', name, '-n', namespace, '--type=merge', '-p', free]);
      return false;
    });
  };

  test('X5 groups of leaders and groups of workers add up, and an event advises a budget for each', async () => {
    const host = on();
    const { groups } = host;
    await begin(
      host,
      'kinds',
      workload(groups, 'lead', 1),
      workload(groups, 'work', 2),
      ...['l0', 'l1'].map((name) => podGroup(groups, name, 'lead', 1)),
      ...['w0', 'w1'].map((name) => podGroup(groups, name, 'work', 2)),
      ...['l0', 'l1'].map((name) => member(name, 0, { nodeName: 'node-0' })),
      ...['w0', 'w1'].flatMap((name) => [0, 1].map((at) => member(name, at, { nodeName: 'node-1' }))),
      budget({ maxUnavailable: 1 }),
    );
    await untilAllowed(host, 'kinds', 1);
    const { currentHealthy, desiredHealthy, expectedPods } = await host.published('kinds', 'train');
    expect([expectedPods, currentHealthy, desiredHealthy]).toEqual([4, 4, 3]);
    await untilEvent(host, 'kinds', 'MultiplePodGroupsDetected', 'train');
    expect(await codesOf(host, 'kinds', 'l0-0', 'w0-0', 'l1-0')).toEqual([201, 429, 429]);
    await end(host, 'kinds');
  });

  test('X6 while a PodGroup is missing its budget counts pods and says so; groups again when it is back', async () => {
    const host = on();
    await begin(host, 'missing', ...gangs(host.groups, 2, 3), budget({ minAvailable: 1 }));
    await untilAllowed(host, 'missing', 1);
    await removeGroup('missing', 'g1');
    await untilMode(host, 'missing', 'False', 'PodGroupNotFound');
    await until('pods to be counted', async () => (await numbersOf(host, 'missing')) === '6/6/1/5');
    await untilEvent(host, 'missing', 'PodGroupFallback', 'train');
    expect(await codesOf(host, 'missing', 'g0-0', 'g1-0')).toEqual([201, 201]);

    await apply(host, 'missing', podGroup(host.groups, 'g1', 'train', 3));
    await untilMode(host, 'missing', 'True', 'GroupUnits');
    // Neither gang is whole any more.
    await untilAllowed(host, 'missing', 0);
    expect(await codesOf(host, 'missing', 'g0-1', 'g1-1')).toEqual([429, 429]);
    await apply(host, 'missing', ...['g0', 'g1'].map((name) => member(name, 3, { nodeName: 'node-0' })));
    await untilAllowed(host, 'missing', 1);
    expect(await codesOf(host, 'missing', 'g0-1', 'g1-1')).toEqual([201, 429]);
    await end(host, 'missing');
  });

  test('T75 pods in no group are left out of a budget over groups, spoken of, and go while enough gangs are up', async () => {
    const host = on();
    const single = (name: string) => pod(name, { app: 'train' }, { nodeName: 'node-2' });
    await begin(
      host,
      'mixed',
      ...gangs(host.groups, 2, 2),
      single('s0'),
      single('s1'),
      single('s2'),
      budget({ minAvailable: 1 }),
    );
    await untilAllowed(host, 'mixed', 1);
    expect((await host.published('mixed', 'train')).expectedPods).toBe(2);
    await untilEvent(host, 'mixed', 'MixedPodGroups', 'train');
    expect(await codesOf(host, 'mixed', 's0', 'g0-0', 's1', 'g1-0')).toEqual([201, 201, 201, 429]);
    // A gang lost without an eviction: now fewer are up than are needed, and nobody may go.
    await host.kubectl.run(['delete', 'pod', 'g1-0', '-n', 'mixed']);
    await until('no gang to be up', async () => (await host.published('mixed', 'train')).currentHealthy === 0);
    expect(await codesOf(host, 'mixed', 's2')).toEqual([429]);
    await end(host, 'mixed');
  });

  test('a budget told to count pods does so although they name groups, and groups once it is told no more', async () => {
    const host = on();
    const scope = 'policy.quorate.dev/budget-scope';
    await begin(host, 'scope', ...gangs(host.groups, 2, 2), budget({ minAvailable: 3 }, { [scope]: 'Pod' }));
    await until('pods to be counted', async () => (await numbersOf(host, 'scope')) === '4/4/3/1');
    expect(await codesOf(host, 'scope', 'g0-0', 'g0-1')).toEqual([201, 429]);
    await host.kubectl.run(['annotate', 'pdb', 'train', '-n', 'scope', `${scope}-`]);
    await untilMode(host, 'scope', 'True', 'GroupUnits');
    // Three groups are asked for and there are two: not even the rest of the broken one may go.
    expect(await codesOf(host, 'scope', 'g0-1', 'g1-0')).toEqual([429, 429]);
    await end(host, 'scope');
  });

  test('a budget told to count groups refuses for a group that cannot be found, until it is there', async () => {
    const host = on();
    const lost = [0, 1].map((at) => member('lost', at, { nodeName: 'node-0' }));
    const annotations = { 'policy.quorate.dev/budget-scope': 'PodGroup' };
    await begin(host, 'strict', ...gangs(host.groups, 1, 2), ...lost, budget({ minAvailable: 1 }, annotations));
    await untilMode(host, 'strict', 'True', 'PodGroupResolutionFailed');
    await untilAllowed(host, 'strict', 0);
    expect((await evict(host, 'strict', 'g0-0')).code).toBe(429);
    const refused = await evict(host, 'strict', 'lost-0');
    expect(refused.code).toBe(429);
    expect(refused.causes[0]?.message).toContain('PodGroupResolutionFailed');
    await apply(host, 'strict', podGroup(host.groups, 'lost', 'train', 2));
    await untilAllowed(host, 'strict', 1);
    expect(await codesOf(host, 'strict', 'lost-0', 'g0-0')).toEqual([201, 429]);
    await end(host, 'strict');
  });
}

/** Stories of gangs that are not whole: what may go under a budget over groups when pods stop being ready. */
import { expect, test } from 'vitest';
import { budget, gangs, member, podGroup, workload } from './groups.ts';
import { apply, begin, codesOf, end, evict, podsOf, type StoryHost, until, untilAllowed } from './host.ts';
import { setReady } from './readiness.ts';

export function tellUnreadyStories(on: () => StoryHost): void {
  const untilHealthy = (namespace: string, wanted: number): Promise<void> =>
    until(`${wanted} groups to be healthy`, async () => {
      return (await on().published(namespace, 'train')).currentHealthy === wanted;
    });

  test('X7 one unready pod in every gang holds everything up, unless unhealthy pods may always go', async () => {
    const host = on();
    await begin(host, 'sick', ...gangs(host.groups, 3, 2), budget({ minAvailable: 2 }));
    await untilAllowed(host, 'sick', 1);
    await setReady(host, 'sick', false, 'g0-0', 'g1-0', 'g2-0');
    await untilHealthy('sick', 0);
    expect(await codesOf(host, 'sick', 'g0-0', 'g1-1')).toEqual([429, 429]);
    const body = '{"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}';
    await host.kubectl.run(['patch', 'pdb', 'train', '-n', 'sick', '--type=merge', '-p', body]);
    await untilAllowed(host, 'sick', 0);
    // A ready pod of a gang that is down serves nobody either.
    expect(await codesOf(host, 'sick', 'g0-0', 'g1-1', 'g2-0')).toEqual([201, 201, 201]);
    await end(host, 'sick');
  });

  test('X8 the gang that is down goes on being drained, the others wait until it is up again', async () => {
    const host = on();
    await begin(host, 'broken', ...gangs(host.groups, 3, 3), budget({ maxUnavailable: 1 }));
    await untilAllowed(host, 'broken', 1);
    await setReady(host, 'broken', false, 'g2-0');
    await untilAllowed(host, 'broken', 0);
    expect(await codesOf(host, 'broken', 'g2-1')).toEqual([201]);
    const refused = await evict(host, 'broken', 'g0-0');
    expect(refused.code).toBe(429);
    expect(refused.causes.map(({ message }) => message).join()).toContain('g2-0 (group PodGroup/g2) is not Ready');
    await apply(host, 'broken', member('g2', 3, { nodeName: 'node-1' }));
    await setReady(host, 'broken', true, 'g2-0');
    await untilAllowed(host, 'broken', 1);
    expect(await codesOf(host, 'broken', 'g0-0', 'g1-0')).toEqual([201, 429]);
    await end(host, 'broken');
  });

  test('T77 members that the budget does not select hold their gang up, and down', async () => {
    const host = on();
    const { groups } = host;
    const selector = { matchLabels: { role: 'leader' } };
    const leader = (group: string) => {
      const made = member(group, 'leader', { nodeName: 'node-0' }) as { metadata: object };
      return { ...made, metadata: { ...made.metadata, labels: { role: 'leader' } } };
    };
    await begin(
      host,
      'leaders',
      workload(groups, 'train', 2),
      ...['a', 'b'].flatMap((name) => [
        podGroup(groups, name, 'train', 2),
        leader(name),
        member(name, 'worker', { nodeName: 'node-1' }),
      ]),
      budget({ selector, minAvailable: 1 }),
    );
    await untilAllowed(host, 'leaders', 1);
    await setReady(host, 'leaders', false, 'a-worker');
    await untilAllowed(host, 'leaders', 0);
    expect(await codesOf(host, 'leaders', 'b-leader', 'b-worker')).toEqual([429, 201]);
    await untilHealthy('leaders', 0);
    expect(await codesOf(host, 'leaders', 'a-leader')).toEqual([429]);
    expect(await podsOf(host, 'leaders')).toEqual(['a-leader', 'a-worker', 'b-leader']);
    await end(host, 'leaders');
  });
}

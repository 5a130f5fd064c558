/** The stories of whole groups: all pods of a group go together, or none does. */
import { expect, test } from 'vitest';
import { evictGroup } from '../../../src/tasks/index.ts';
import { systemClock } from '../../../src/machinery/runtime/index.ts';
import { quorate } from './command.ts';
import { budget, member, podGroup, workload } from './groups.ts';
import { begin, end, pod, podsOf, type StoryHost, until, untilAllowed } from './host.ts';
import { shardBudget } from './shards.ts';

const shard = (value: string, at: number) =>
  pod(`llm-${value}-${at}`, { app: 'llm', shard: value }, { nodeName: `node-${at}` });

export function tellGroupEvictionStories(on: () => StoryHost): void {
  const beginShards = async (namespace: string): Promise<void> => {
    const host = on();
    const pods = ['p', 'q'].flatMap((value) => [0, 1, 2].map((at) => shard(value, at)));
    await begin(host, namespace, ...pods, shardBudget(3));
    await until('the budget to count both shards', async () => {
      const path = 'jsonpath={.status.unavailableAllowed}/{.status.currentAvailable}';
      return (await host.kubectl.out('get', 'pub', 'llm', '-n', namespace, '-o', path)) === '1/2';
    });
  };

  test('quorate evict group asks, takes a gang whole at one charge, and is told why not the next', async () => {
    const host = on();
    const { groups } = host;
    await begin(
      host,
      'whole',
      workload(groups, 'train', 2),
      ...['g0', 'g1'].map((name) => podGroup(groups, name, 'train', 2)),
      ...['g0', 'g1'].flatMap((name) => [0, 1].map((at) => member(name, at, { nodeName: `node-${at}` }))),
      budget({ minAvailable: 1 }),
    );
    await untilAllowed(host, 'whole', 1);
    const asked = await quorate(host, 'evict', 'group', 'whole/g0', '--dry-run', '-o', 'json');
    expect(JSON.parse(asked.stdout)).toMatchObject({ outcome: 'WouldEvict' });
    expect(await podsOf(host, 'whole')).toHaveLength(4);
    expect(await host.allowed('whole', 'train')).toBe(1);

    const taken = await quorate(host, 'evict', 'group', 'whole/g0', '--timeout=120s');
    expect(taken).toMatchObject({ code: 0, stderr: '' });
    expect(await podsOf(host, 'whole')).toEqual(['g1-0', 'g1-1']);
    const refused = await quorate(host, 'evict', 'group', 'whole/g1', '--timeout=120s');
    expect(refused.code).toBe(3);
    expect(refused.stdout).toContain('Cannot evict group PodGroup g1 (2 pods)');
    expect(await podsOf(host, 'whole')).toEqual(['g1-0', 'g1-1']);
    expect((await quorate(host, 'evict', 'group', 'whole/nobody')).code).toBe(1);
    await end(host, 'whole');
  });

  test('a shard named by its label goes whole under a PodUnavailableBudget, and the next is refused', async () => {
    const host = on();
    await beginShards('labelled');
    const evict = (value: string) =>
      quorate(host, 'evict', 'group', `labelled/${value}`, '--label', 'shard', '--timeout=120s', '-o', 'json');
    const taken = await evict('p');
    expect(JSON.parse(taken.stdout)).toMatchObject({ outcome: 'Evicted', pods: ['llm-p-0', 'llm-p-1', 'llm-p-2'] });
    const refused = await evict('q');
    expect(refused.code).toBe(3);
    expect(JSON.parse(refused.stdout)).toMatchObject({
      outcome: 'Refused',
      message: expect.stringContaining('would make group q unavailable') as string,
    });
    expect(await podsOf(host, 'labelled')).toEqual(['llm-q-0', 'llm-q-1', 'llm-q-2']);
    await host.kubectl.run(['delete', 'pub', 'llm', '-n', 'labelled']);
    await end(host, 'labelled');
  });

  test('of two shards asked for by eight clients at once, one goes whole and the other not at all', async () => {
    const host = on();
    await beginShards('race');
    const asked = Array.from({ length: 8 }, (_, at) =>
      evictGroup(
        { client: host.client, clock: systemClock },
        {
          namespace: 'race',
          spec: { groupLabel: { key: 'shard', value: at % 2 === 0 ? 'p' : 'q' } },
          dryRun: false,
          timeoutMs: 120_000,
        },
      ),
    );
    const outcomes = (await Promise.all(asked)).map(({ outcome }) => outcome);
    expect(outcomes).toContain('Evicted');
    const left = await podsOf(host, 'race');
    expect(left).toHaveLength(3);
    expect(new Set(left.map((name) => name.split('-')[1])).size).toBe(1);
    await host.kubectl.run(['delete', 'pub', 'llm', '-n', 'race']);
    await end(host, 'race');
  });
}

/** The stories of the PodUnavailableBudget proposal: shards that serve only while they are whole. */
import { expect, test } from 'vitest';
import { apply, begin, end, evict, pod, podsOf, type StoryHost, until } from './host.ts';

const shard = (index: number, worker: number | string, nodeName: string) =>
  pod(`llm-${index}-${worker}`, { app: 'llm', shard: String(index) }, { nodeName });

/** Shards of `app: llm`, one of which may be down. */
export const shardBudget = (minReadyReplicas: number) => ({
  apiVersion: 'policy.kruise.io/v1beta1',
  kind: 'PodUnavailableBudget',
  metadata: { name: 'llm' },
  spec: {
    selector: { matchLabels: { app: 'llm' } },
    maxUnavailable: 1,
    protectTotalReplicas: 2,
    podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas },
  },
});
const budget = shardBudget(2);

export function tellShardStories(on: () => StoryHost): void {
  const untilUnavailable = (namespace: string, allowed: number): Promise<void> =>
    until(`the budget to allow ${allowed}`, async () => {
      const path = 'jsonpath={.status.unavailableAllowed}/{.status.totalReplicas}';
      return (await on().kubectl.out('get', 'pub', 'llm', '-n', namespace, '-o', path)) === `${allowed}/2`;
    });

  test('one shard may be unavailable: the rest of it is free, the other is refused whoever asks', async () => {
    const host = on();
    const { kubectl } = host;
    const pods = [0, 1].flatMap((index) => [shard(index, 0, 'node-0'), shard(index, 1, 'node-1')]);
    await begin(host, 'shards', ...pods, budget);
    await untilUnavailable('shards', 1);
    await kubectl.run(['delete', 'pod', 'llm-0-0', '-n', 'shards']);
    expect((await evict(host, 'shards', 'llm-1-0')).code).toBe(429);
    const refused = await kubectl.run(['delete', 'pod', 'llm-1-0', '-n', 'shards'], { fails: true });
    expect(refused.stderr).toMatch(/would make group 1 unavailable/);
    await kubectl.run(['delete', 'pod', 'llm-0-1', '-n', 'shards']);
    expect(await podsOf(host, 'shards')).toEqual(['llm-1-0', 'llm-1-1']);
    await kubectl.run(['delete', 'pub', 'llm', '-n', 'shards']);
    await end(host, 'shards');
  });

  test('kubectl drain takes one shard, waits until it serves again elsewhere, then takes the other', async () => {
    const host = on();
    const { kubectl } = host;
    const pods = [0, 1].flatMap((index) => [shard(index, 0, 'node-2'), shard(index, 1, 'node-1')]);
    await begin(host, 'drained', ...pods, budget);
    await untilUnavailable('drained', 1);
    const drain = kubectl.run(['drain', 'node-2', '--force', '--ignore-daemonsets', '--timeout=240s']);
    await until('one shard to lose its pod', async () => (await podsOf(host, 'drained')).length === 3);
    const [lost, kept] = (await podsOf(host, 'drained')).includes('llm-0-0') ? [1, 0] : [0, 1];
    await apply(host, 'drained', shard(lost, 'again', 'node-0'));
    await drain;
    expect(await podsOf(host, 'drained')).toEqual([`llm-${kept}-1`, `llm-${lost}-1`, `llm-${lost}-again`].sort());
    await kubectl.run(['uncordon', 'node-2']);
    await kubectl.run(['delete', 'pub', 'llm', '-n', 'drained']);
    await end(host, 'drained');
  });
}

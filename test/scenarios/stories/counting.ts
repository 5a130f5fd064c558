/** Stories of what a PodDisruptionBudget counts, and of what it says about it. */
import { expect, test } from 'vitest';
import { podType } from '../../../src/api/resource-types.ts';
import { quorate } from './command.ts';
import { budget, member, numbersOf, podGroup, workload } from './groups.ts';
import { apply, begin, codesOf, end, evict, pod, podsOf, type StoryHost, until, untilAllowed } from './host.ts';

const trainer = (name: string, labels: Record<string, string> = {}, spec: object = {}) =>
  pod(name, { app: 'train', ...labels }, { nodeName: 'node-0', ...spec });

export function tellCountingStories(on: () => StoryHost): void {
  test('a budget over plain pods counts pods, as Kubernetes does', async () => {
    const host = on();
    await begin(host, 'plain', trainer('p0'), trainer('p1'), trainer('p2'), budget({ minAvailable: 2 }));
    await until('the status', async () => (await numbersOf(host, 'plain')) === '3/3/2/1');
    expect(await codesOf(host, 'plain', 'p0', 'p1')).toEqual([201, 429]);
    await until('the pod to be gone', async () => (await numbersOf(host, 'plain')) === '2/2/2/0');
    await apply(host, 'plain', trainer('p3'));
    await until('the new pod to count', async () => (await numbersOf(host, 'plain')) === '3/3/2/1');
    expect(await codesOf(host, 'plain', 'p1', 'p2')).toEqual([201, 429]);
    await end(host, 'plain');
  });

  test('a budget that names a label counts the groups it makes', async () => {
    const host = on();
    const annotations = { 'policy.quorate.dev/group-by': 'label:shard', 'policy.quorate.dev/group-min-count': '2' };
    const pods = ['x', 'y'].flatMap((value) => [0, 1].map((at) => trainer(`${value}-${at}`, { shard: value })));
    await begin(host, 'named', ...pods, budget({ minAvailable: 1 }, annotations));
    await untilAllowed(host, 'named', 1);
    expect(await codesOf(host, 'named', 'x-0', 'y-0', 'x-1', 'y-1')).toEqual([201, 429, 201, 429]);
    expect(await podsOf(host, 'named')).toEqual(['y-0', 'y-1']);
    await end(host, 'named');
  });

  test('a dry run and quorate why answer, charge nothing, and say what an eviction is told', async () => {
    const host = on();
    const { client, groups } = host;
    await begin(
      host,
      'asked',
      workload(groups, 'train', 2),
      ...['a', 'b'].map((name) => podGroup(groups, name, 'train', 2)),
      ...['a', 'b'].flatMap((name) => [0, 1].map((at) => member(name, at, { nodeName: `node-${at}` }))),
      budget({ minAvailable: 1 }),
    );
    await untilAllowed(host, 'asked', 1);
    const dryRun = (name: string) =>
      client.request('POST', `/api/v1/namespaces/asked/pods/${name}/eviction?dryRun=All`, {
        apiVersion: 'policy/v1',
        kind: 'Eviction',
        metadata: { name, namespace: 'asked' },
      });
    for (const name of ['a-0', 'b-0']) await dryRun(name);
    expect(await host.allowed('asked', 'train')).toBe(1);
    expect(await codesOf(host, 'asked', 'a-0')).toEqual([201]);
    await expect(dryRun('b-0')).rejects.toMatchObject({ code: 429 });
    await until('the evicted pod to be gone', async () => {
      const { items } = await client.list(podType, { namespace: 'asked' });
      return items.every(({ metadata }) => metadata.name !== 'a-0');
    });
    const why = await quorate(host, 'why', 'pod/b-1', '-n', 'asked');
    expect(why.code).toBe(3);
    expect(why.stdout).toMatch(/To unblock: /);
    expect((await quorate(host, 'why', 'pod/a-1', '-n', 'asked')).code).toBe(0);
    await end(host, 'asked');
  });

  test('64 evictions at once take no more gangs than the budget allows', async () => {
    const host = on();
    const { groups } = host;
    const names = Array.from({ length: 8 }, (_, at) => `g${at}`);
    await begin(
      host,
      'storm',
      workload(groups, 'train', 2),
      ...names.map((name) => podGroup(groups, name, 'train', 2)),
      ...names.flatMap((name) => [0, 1].map((at) => member(name, at, { nodeName: `node-${at}` }))),
      budget({ minAvailable: 6 }),
    );
    await untilAllowed(host, 'storm', 2);
    const asked = Array.from({ length: 64 }, (_, at) => `g${at % 8}-${(at >> 3) % 2}`);
    const answers = await Promise.all(
      asked.map(async (name) => ({ name, granted: (await evict(host, 'storm', name)).code === 201 })),
    );
    const down = new Set(answers.filter(({ granted }) => granted).map(({ name }) => name.split('-')[0]));
    expect(down.size).toBe(2);
    const whole = names.filter((name) => !down.has(name)).flatMap((name) => [`${name}-0`, `${name}-1`]);
    expect(await podsOf(host, 'storm')).toEqual(expect.arrayContaining(whole));
    await end(host, 'storm');
  });
}

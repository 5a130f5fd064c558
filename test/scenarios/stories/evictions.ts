/** Stories of the eviction call itself: what Kubernetes promises of it holds where groups are counted. */
import { expect, test } from 'vitest';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { EXIT_AFTER, START_DELAY } from '../../../src/nodes/index.ts';
import { budget, gangs, member, podGroup } from './groups.ts';
import { apply, begin, codesOf, end, evict, podsOf, type StoryHost, until, untilAllowed } from './host.ts';

const annotated = (pod: object, annotations: Record<string, string>): object => {
  const { metadata, ...rest } = pod as { metadata: object };
  return { ...rest, metadata: { ...metadata, annotations } };
};

export function tellEvictionStories(on: () => StoryHost): void {
  const change = (namespace: string, spec: object) =>
    on().client.patch(podDisruptionBudgetType, { namespace, name: 'train' }, { type: 'merge', body: { spec } });

  test('T55 T68 a budget that changes lets nothing go by its old numbers; deleted, it lets everything go', async () => {
    const host = on();
    await begin(host, 'changing', ...gangs(host.groups, 3, 2), budget({ minAvailable: 3 }));
    await untilAllowed(host, 'changing', 0);
    expect(await codesOf(host, 'changing', 'g0-0')).toEqual([429]);
    await change('changing', { minAvailable: 2 });
    await untilAllowed(host, 'changing', 1);
    // Asked at once: the room there was is not there any more, whoever has counted it by now.
    await change('changing', { minAvailable: null, maxUnavailable: 0 });
    expect(await codesOf(host, 'changing', 'g0-0')).toEqual([429]);
    await untilAllowed(host, 'changing', 0);
    expect(await codesOf(host, 'changing', 'g0-0')).toEqual([429]);
    await change('changing', { maxUnavailable: '34%' });
    // An eviction that was granted before the change was seen, and then refused, stays charged.
    await until('room again', async () => ((await host.allowed('changing', 'train')) ?? 0) > 0);
    expect(await codesOf(host, 'changing', 'g0-0', 'g1-0', 'g2-0')).toEqual([201, 201, 429]);
    await host.kubectl.run(['delete', 'pdb', 'train', '-n', 'changing']);
    await until('the gang that was left to go', async () => (await codesOf(host, 'changing', 'g2-0'))[0] === 201);
    await end(host, 'changing');
  });

  test('T47 a pod of two budgets stays whatever each allows', async () => {
    const host = on();
    const first = budget({ minAvailable: 0 });
    const second = { ...first, metadata: { name: 'other' } };
    await begin(host, 'twice', ...gangs(host.groups, 2, 1), first, second);
    await untilAllowed(host, 'twice', 2);
    await untilAllowed(host, 'twice', 2, 'other');
    expect(await evict(host, 'twice', 'g0-0')).toMatchObject({
      code: 500,
      message: 'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    });
    expect(await podsOf(host, 'twice')).toEqual(['g0-0', 'g1-0']);
    await host.kubectl.run(['delete', 'pdb', 'other', '-n', 'twice']);
    await until('one budget to be left', async () => (await codesOf(host, 'twice', 'g0-0'))[0] === 201);
    await end(host, 'twice');
  });

  test('T44 T78 members that have not started or have finished go without asking the budget', async () => {
    const host = on();
    const { groups, kubectl } = host;
    await begin(host, 'idle', ...gangs(groups, 1, 2), budget({ maxUnavailable: 0 }));
    await apply(
      host,
      'idle',
      annotated(member('g0', 'late', { nodeName: 'node-0' }), { [START_DELAY]: '1h' }),
      annotated(member('g0', 'done', { nodeName: 'node-0', restartPolicy: 'Never' }), { [EXIT_AFTER]: '1ms' }),
      // A gang without pods: the budget is broken, and still lets them go.
      podGroup(groups, 'g1', 'train', 1),
    );
    const phase = '--for=jsonpath={.status.phase}=Succeeded';
    await kubectl.run(['wait', 'pod', 'g0-done', '-n', 'idle', phase, '--timeout=120s']);
    await until('the gang without pods to be counted', async () => {
      return (await host.published('idle', 'train')).expectedPods === 2;
    });
    expect(await codesOf(host, 'idle', 'g0-0')).toEqual([429]);
    for (const name of ['g0-late', 'g0-done']) {
      await until(`${name} to go`, async () => (await codesOf(host, 'idle', name))[0] === 201);
    }
    expect(await podsOf(host, 'idle')).toEqual(['g0-0', 'g0-1']);
    await end(host, 'idle');
  });

  test('T63 T80 a precondition that does not hold keeps the pod; evicted again it costs nothing more', async () => {
    const host = on();
    await begin(host, 'exactly', ...gangs(host.groups, 2, 1), budget({ minAvailable: 1 }));
    await untilAllowed(host, 'exactly', 1);
    const evictOnly = async (preconditions: object): Promise<number> =>
      (await evict(host, 'exactly', 'g0-0', { preconditions })).code;
    expect(await evictOnly({ uid: 'other' })).toBe(409);
    for (const resourceVersion of ['1', '2']) expect(await evictOnly({ resourceVersion })).toBe(409);
    expect(await podsOf(host, 'exactly')).toEqual(['g0-0', 'g1-0']);
    // Whether these approvals still stand is each host's own affair: Kubernetes keeps them for two minutes, a ledger ends
    // one as soon as the pod is seen at another version than the eviction was pinned to.
    const { metadata } = await host.client.get(podType, { namespace: 'exactly', name: 'g0-0' });
    expect(await evictOnly({ uid: metadata.uid })).toBe(201);
    expect(await codesOf(host, 'exactly', 'g1-0')).toEqual([429]);
    await end(host, 'exactly');
  });
}

/** Stories of what a PodUnavailableBudget counts, whom it tells of a refusal, and how it goes with other budgets. */
import { expect, test } from 'vitest';
import { POD_UNAVAILABLE_BUDGETS, type PodUnavailableBudget } from '../../../src/api/kruise/types.ts';
import { eventType, podDisruptionBudgetType } from '../../../src/api/resource-types.ts';
import { quorate } from './command.ts';
import { budget, gangs } from './groups.ts';
import {
  askEviction,
  begin,
  codesOf,
  end,
  evict,
  pod,
  type StoryHost,
  until,
  untilAllowed,
  untilEvent,
} from './host.ts';

const unavailable = (name: string, spec: object) => ({
  apiVersion: 'policy.kruise.io/v1beta1',
  kind: 'PodUnavailableBudget',
  metadata: { name },
  spec,
});

const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 4,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'main' }] },
    },
  },
};

export function tellUnavailableStories(on: () => StoryHost): void {
  const read = (namespace: string, name: string): Promise<PodUnavailableBudget> =>
    on().client.get(POD_UNAVAILABLE_BUDGETS, { namespace, name });
  /** Expected, needed, available and allowed, counted from the spec there is. */
  const untilNumbers = (namespace: string, name: string, wanted: string): Promise<void> =>
    until(`${name} to say ${wanted}`, async () => {
      const { metadata, status = {} } = await read(namespace, name);
      const { currentAvailable, desiredAvailable, totalReplicas, unavailableAllowed } = status;
      const said = [totalReplicas, desiredAvailable, currentAvailable, unavailableAllowed].join('/');
      return status.observedGeneration === metadata.generation && said === wanted;
    });

  test('C1 C7 a budget over a Deployment counts its pods, follows its scale, and guards nothing at scale 0', async () => {
    const host = on();
    const scale = (replicas: number) =>
      host.kubectl.run(['scale', 'deployment/web', '-n', 'scaled', `--replicas=${replicas}`]);
    const targetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    await begin(
      host,
      'scaled',
      web,
      unavailable('by-target', { targetRef, maxUnavailable: '30%' }),
      unavailable('by-selector', { selector: web.spec.selector, maxUnavailable: '30%' }),
    );
    for (const name of ['by-target', 'by-selector']) await untilNumbers('scaled', name, '4/2/4/2');
    await scale(5);
    for (const name of ['by-target', 'by-selector']) await untilNumbers('scaled', name, '5/3/5/2');
    await scale(0);
    await until('the pods to go', async () => (await host.kubectl.out('get', 'pods', '-n', 'scaled')) === '');
    for (const name of ['by-target', 'by-selector']) await untilNumbers('scaled', name, '0/0/0/0');
    await end(host, 'scaled');
  });

  test('W2 a refusal is told in an event on the pod and by quorate why; who only asks is told alone', async () => {
    const host = on();
    const pods = ['p0', 'p1', 'q0', 'q1'].map((name) =>
      pod(name, { app: 'llm', shard: name.slice(0, 1) }, { nodeName: 'node-0' }),
    );
    const spec = {
      selector: { matchLabels: { app: 'llm' } },
      maxUnavailable: 1,
      protectTotalReplicas: 2,
      podGroupPolicy: { groupLabelKey: 'shard', minReadyReplicas: 2 },
    };
    await begin(host, 'telling', ...pods, unavailable('llm', spec));
    await untilNumbers('telling', 'llm', '2/1/2/1');
    for (const name of ['p0', 'q0']) expect((await askEviction(host, 'telling', name)).code).toBe(201);
    expect((await read('telling', 'llm')).status?.unavailableAllowed).toBe(1);
    expect(await codesOf(host, 'telling', 'p0')).toEqual([201]);
    await untilNumbers('telling', 'llm', '2/1/1/0');

    expect((await askEviction(host, 'telling', 'q1')).code).toBe(429);
    const refused = await evict(host, 'telling', 'q0');
    expect(refused.code).toBe(429);
    await untilEvent(host, 'telling', 'PubPreventPodDeletion', 'q0');
    const { items } = await host.client.list(eventType, { namespace: 'telling' });
    expect(items.filter(({ reason }) => reason === 'PubPreventPodDeletion')).toMatchObject([
      { type: 'Warning', involvedObject: { kind: 'Pod', name: 'q0' } },
    ]);
    const why = await quorate(host, 'why', 'pod/q0', '-n', 'telling');
    expect(why.code).toBe(3);
    expect(refused.causes.length).toBeGreaterThan(2);
    for (const { message = '' } of refused.causes) expect(why.stdout).toContain(message);
    await host.kubectl.run(['delete', 'pub', 'llm', '-n', 'telling']);
    await end(host, 'telling');
  });

  test('under a budget of either kind, neither is charged for what the other refuses', async () => {
    const host = on();
    const { client, groups } = host;
    const selector = { matchLabels: { app: 'train' } };
    const guard = (maxUnavailable: number) => ({ selector, maxUnavailable, protectTotalReplicas: 2 });
    await begin(host, 'both', ...gangs(groups, 2, 1), budget({ minAvailable: 1 }), unavailable('guard', guard(0)));
    await untilAllowed(host, 'both', 1);
    await untilNumbers('both', 'guard', '2/2/2/0');
    expect(await codesOf(host, 'both', 'g0-0')).toEqual([429]);
    expect(await host.allowed('both', 'train')).toBe(1);

    const change = { type: 'merge' } as const;
    const need = (minAvailable: number) =>
      client.patch(
        podDisruptionBudgetType,
        { namespace: 'both', name: 'train' },
        { ...change, body: { spec: { minAvailable } } },
      );
    await need(2);
    await untilAllowed(host, 'both', 0);
    const body = { spec: { maxUnavailable: 1 } };
    await client.patch(POD_UNAVAILABLE_BUDGETS, { namespace: 'both', name: 'guard' }, { ...change, body });
    await untilNumbers('both', 'guard', '2/1/2/1');
    expect(await codesOf(host, 'both', 'g0-0')).toEqual([429]);
    const { status } = await read('both', 'guard');
    expect([status?.unavailableAllowed, Object.keys(status?.disruptedPods ?? {})]).toEqual([1, []]);

    await need(1);
    await untilAllowed(host, 'both', 1);
    expect(await codesOf(host, 'both', 'g0-0', 'g1-0')).toEqual([201, 429]);
    await host.kubectl.run(['delete', 'pub', 'guard', '-n', 'both']);
    await end(host, 'both');
  });
}

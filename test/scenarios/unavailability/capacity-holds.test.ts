/** Room that a PodUnavailableBudget has held from the grant until the group is back: `spec.capacityPolicy.reserveFor`. */
import { expect, test } from 'vitest';
import type { Pod, PodSpec } from '../../../src/api/generated/core-v1.ts';
import { builtinType } from '../../../src/api/registry.ts';
import type { KubeObject } from '../../../src/api/resource.ts';
import { type CapacityPolicy, POD_UNAVAILABLE_BUDGETS } from '../../../src/api/kruise/types.ts';
import { nodeType, podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { createPodUnavailableBudgetController } from '../../../src/controllers/quorate/pod-unavailable-budget/index.ts';
import { Stage as Evicting } from '../disruption/support.ts';
import { onStage, type Stage } from '../scheduling/stage.ts';

const MEMBERS = ['g-0', 'g-1', 'g-2', 'g-3'];

interface Play {
  readonly stage: Stage;
  readonly evicting: Evicting;
}

const spec = (over: Partial<PodSpec> = {}): PodSpec => ({
  containers: [{ name: 'main', image: 'x', resources: { requests: { cpu: '1' } } }],
  ...over,
});

/** A gang of four on a cordoned node, with room for four on two others; fillers are as important as the gang. */
function play(policy: CapacityPolicy, scenario: (play: Play) => Promise<void>): () => Promise<void> {
  const also = [createPodUnavailableBudgetController(), createDisruptionController()];
  return () =>
    onStage({ also }, async (stage) => {
      const { client, plane } = stage;
      const evicting = new Evicting(plane);
      await stage.addNode('old', 4);
      await stage.addNode('new-1', 2);
      await stage.addNode('new-2', 2);
      await stage.addGang('g', 4);
      await client.create(POD_UNAVAILABLE_BUDGETS, {
        metadata: { name: 'pub', namespace: 'default' },
        spec: {
          selector: { matchLabels: { app: 'a' } },
          maxUnavailable: '100%',
          podGroupPolicy: { groupLabelKey: 'group', minReadyReplicas: 4 },
          capacityPolicy: { mode: 'Require', ...policy },
        },
      });
      for (const name of MEMBERS) {
        const member = spec({ schedulingGroup: { podGroupName: 'g' } });
        const labels = { app: 'a', group: 'g' };
        await evicting.pod(name, { node: 'old', labels, spec: member as unknown as Record<string, unknown> });
      }
      await client.patch(nodeType, { name: 'old' }, { type: 'merge', body: { spec: { unschedulable: true } } });
      await stage.settle();
      await scenario({ stage, evicting });
    });
}

async function placeholders({ stage }: Play): Promise<Pod[]> {
  const { items } = await stage.client.list(podType, { namespace: 'default' });
  return items.filter(({ metadata }) => metadata.name?.startsWith('quorate-hold-') && !metadata.deletionTimestamp);
}

test(
  'CP-10 CP-12 PL-13 under a PodUnavailableBudget room is held, a filler waits, and the gang is back on the held nodes',
  play({ reserveFor: '10m' }, async (scene) => {
    const { evicting, stage } = scene;
    const budget = await stage.client.get(POD_UNAVAILABLE_BUDGETS, { namespace: 'default', name: 'pub' });
    expect((await evicting.evict('g-0')).code).toBe(201);
    const held = await placeholders(scene);
    expect(held.map((pod) => pod.spec?.nodeName ?? '').sort()).toEqual(['new-1', 'new-1', 'new-2', 'new-2']);
    for (const { metadata } of held) {
      const { apiVersion, kind, uid } = metadata.ownerReferences?.[0] ?? {};
      expect({ apiVersion, kind, uid }).toEqual({
        apiVersion: 'policy.kruise.io/v1beta1',
        kind: 'PodUnavailableBudget',
        uid: budget.metadata.uid,
      });
    }
    for (let at = 0; at < 4; at += 1) await stage.addPod(`filler-${at}`, { labels: { app: 'filler' }, spec: spec() });
    await stage.settle();
    expect(await stage.bound('filler')).toEqual([]);
    for (const name of MEMBERS.slice(1)) expect((await evicting.evict(name)).code).toBe(201);
    await stage.endTerminating();
    for (const name of MEMBERS)
      await stage.addPod(name, { labels: { app: 'a', group: 'g' }, group: 'g', spec: spec() });
    await stage.settle();
    await stage.endTerminating();
    await stage.pass(60);
    expect(await stage.bound('g-')).toEqual(MEMBERS);
    expect(await stage.bound('filler')).toEqual([]);
    expect(await placeholders(scene)).toEqual([]);
  }),
);

test(
  'CP-16 under a PodUnavailableBudget what does not come back has its room given back at the deadline, said once',
  play({ reserveFor: '10m' }, async (scene) => {
    const { evicting, stage } = scene;
    expect((await evicting.evict('g-0')).code).toBe(201);
    await stage.pass(599);
    expect(await placeholders(scene)).toHaveLength(4);
    await stage.pass(2);
    expect(await placeholders(scene)).toEqual([]);
    expect(await evicting.events('HoldExpired')).toHaveLength(1);
  }),
);

/** Of a quota of 6 CPUs 4 are used. */
async function addQuota({ client }: Stage): Promise<void> {
  const status = { hard: { 'requests.cpu': '6' }, used: { 'requests.cpu': '4' } };
  const key = { namespace: 'default', name: 'small' };
  const quota = builtinType('ResourceQuota');
  await client.create(quota, { metadata: key, spec: { hard: status.hard } } as KubeObject);
  await client.patch(quota, key, { type: 'merge', body: { status } }, { subresource: 'status' });
}

for (const [onReserveFailure, code] of [
  [undefined, 429],
  ['Proceed', 201],
] as const) {
  test(
    `CP-14 under a PodUnavailableBudget that cannot hold for want of quota: onReserveFailure ${onReserveFailure ?? 'unset'} answers ${code}`,
    play({ reserveFor: '10m', ...(onReserveFailure && { onReserveFailure }) }, async (scene) => {
      const { evicting, stage } = scene;
      await addQuota(stage);
      const answer = await evicting.evict('g-0');
      expect(answer.code).toBe(code);
      if (code === 429) expect(answer.status.message).toContain('ReserveFailed: exceeded quota: small');
      expect(await placeholders(scene)).toEqual([]);
      const { status } = await stage.client.get(POD_UNAVAILABLE_BUDGETS, { namespace: 'default', name: 'pub' });
      expect(Object.keys(status?.disruptedPods ?? {})).toEqual(code === 429 ? [] : ['g-0']);
    }),
  );
}

test(
  'under budgets of both kinds that want room held, one set of placeholders holds it',
  play({ reserveFor: '10m' }, async (scene) => {
    const { evicting, stage } = scene;
    const annotations = { 'policy.quorate.dev/capacity': 'Require', 'policy.quorate.dev/capacity-reserve': '5m' };
    await stage.client.create(podDisruptionBudgetType, {
      metadata: { name: 'pdb', namespace: 'default', annotations },
      spec: { selector: { matchLabels: { app: 'a' } }, maxUnavailable: '100%' },
    });
    await stage.settle();
    expect((await evicting.evict('g-0')).code).toBe(201);
    expect(await placeholders(scene)).toHaveLength(4);
    expect((await evicting.evict('g-1')).code).toBe(201);
    expect(await placeholders(scene)).toHaveLength(4);
  }),
);

test(
  'a group that goes as one by GroupEviction under a PodUnavailableBudget has its room held too',
  play({ reserveFor: '10m' }, async (scene) => {
    const answer = await scene.evicting.post('/apis/policy.quorate.dev/v1alpha1/namespaces/default/groupevictions', {
      apiVersion: 'policy.quorate.dev/v1alpha1',
      kind: 'GroupEviction',
      metadata: { name: 'go', namespace: 'default' },
      spec: { podGroupName: 'g' },
    });
    expect(answer.code).toBe(201);
    expect(await placeholders(scene)).toHaveLength(4);
  }),
);

test(
  'a PodUnavailableBudget holds nothing in a dry run, and nothing where reserveFor is 0; a wrong one is refused by its path',
  play({ reserveFor: '0' }, async (scene) => {
    const { evicting, stage } = scene;
    const set = (capacityPolicy: CapacityPolicy) =>
      stage.client.patch(
        POD_UNAVAILABLE_BUDGETS,
        { namespace: 'default', name: 'pub' },
        { type: 'merge', body: { spec: { capacityPolicy } } },
      );
    await expect(set({ reserveFor: 'long' })).rejects.toThrow('spec.capacityPolicy.reserveFor');
    await expect(set({ reserveFor: '5s' })).rejects.toThrow('must be a duration from 10s to 24h, or 0');
    await expect(set({ onReserveFailure: 'Perhaps' })).rejects.toThrow('spec.capacityPolicy.onReserveFailure');
    await set({ reserveFor: '10m' });
    await stage.settle();
    expect((await evicting.evict('g-0', {}, '?dryRun=All')).code).toBe(201);
    expect(await placeholders(scene)).toEqual([]);
    await set({ reserveFor: '0' });
    await stage.settle();
    expect((await evicting.evict('g-0')).code).toBe(201);
    expect(await placeholders(scene)).toEqual([]);
  }),
);

test(
  'CP-13 under a PodUnavailableBudget held room is lost and there is none elsewhere: CapacityLost, and no other group goes',
  play({ reserveFor: '10m' }, async (scene) => {
    const { evicting, stage } = scene;
    await stage.addNode('beside', 3);
    const labels = { app: 'a', group: 'other' };
    for (let at = 0; at < 4; at += 1) {
      const other = spec({ containers: [{ name: 'main', image: 'x' }] });
      await evicting.pod(`o-${at}`, { node: 'beside', labels, spec: other as unknown as Record<string, unknown> });
    }
    await stage.addPod('blocker', { cpu: 3, labels: { app: 'blocker' }, spec: { nodeName: 'beside' } });
    await stage.settle();
    for (const name of MEMBERS) expect((await evicting.evict(name)).code).toBe(201);
    await stage.client.create(builtinType('PriorityClass', 'scheduling.k8s.io'), {
      metadata: { name: 'rival' },
      value: 200,
    } as KubeObject);
    const nodeSelector = { 'kubernetes.io/hostname': 'new-1' };
    await stage.addPod('rival', {
      cpu: 2,
      labels: { app: 'rival' },
      spec: { nodeSelector, priorityClassName: 'rival' },
    });
    await stage.settle();
    await stage.endTerminating();
    await stage.settle();
    await stage.pass(5);
    expect(await evicting.events('CapacityLost')).toHaveLength(1);
    const budget = async () => stage.client.get(POD_UNAVAILABLE_BUDGETS, { namespace: 'default', name: 'pub' });
    const said = async () => (await budget()).status?.conditions?.find(({ type }) => type === 'CapacityAvailable');
    expect(await said()).toMatchObject({ status: 'False', reason: 'CapacityLost' });
    expect((await evicting.evict('o-0')).status.message).toContain('CapacityLost: default/');
    for (const name of MEMBERS) {
      const member = spec({ containers: [{ name: 'main', image: 'x' }] });
      const again = { app: 'a', group: 'g' };
      await evicting.pod(name, { node: 'new-2', labels: again, spec: member as unknown as Record<string, unknown> });
    }
    await stage.settle();
    await stage.pass(61);
    expect((await said())?.reason).not.toBe('CapacityLost');
    expect((await evicting.evict('o-0')).code).toBe(201);
  }),
);

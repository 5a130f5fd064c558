import { expect, test } from 'vitest';
import { daemonSetType, nodeType, podType } from '../../../src/api/resource-types.ts';
import { type DrainOptions, type DrainResult, drainNodes } from '../../../src/tasks/index.ts';
import { formatResult } from '../../../src/cli/drain/run.ts';
import { explainEverything, explainTarget } from '../../../src/tasks/index.ts';
import { type PodOptions, type Stage, withController, workloadType } from './support.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u', controller: true };

/** Two groups of three on nodes A, B and C, as the proposal draws them; one of them may be down. */
async function threeNodes(
  stage: Stage,
  spec: Record<string, unknown> = { minAvailable: 1 },
  annotations: Record<string, string> = {},
): Promise<void> {
  for (const name of ['node-a', 'node-b', 'node-c']) await stage.plane.client.create(nodeType, { metadata: { name } });
  await stage.plane.client.create(workloadType, {
    metadata: { name: 'w', namespace: 'default' },
    spec: { podGroups: [{ name: 'g', replicas: 2, policy: { gang: { minCount: 3 } } }] },
  });
  await stage.budget(spec, { annotations });
  for (const [name, key, node] of [
    ['a0', '0', 'node-a'],
    ['a1', '0', 'node-a'],
    ['a2', '0', 'node-b'],
    ['b0', '1', 'node-b'],
    ['b1', '1', 'node-c'],
    ['b2', '1', 'node-c'],
  ] as const) {
    await member(stage, name, key, { node });
  }
  await stage.settle();
}

async function member(stage: Stage, name: string, key: string, more: PodOptions): Promise<void> {
  await stage.pod(name, {
    owner,
    spec: { workloadRef: { name: 'w', podGroup: 'g', podGroupReplicaKey: key } },
    ...more,
  });
}

/** Drains while time passes; `tick` plays kubelets and controllers once a second. */
async function drain(
  stage: Stage,
  nodes: string[],
  options: Partial<DrainOptions> = {},
  tick: () => Promise<void> = async () => {},
): Promise<DrainResult & { steps: string[] }> {
  const steps: string[] = [];
  let result: DrainResult | undefined;
  let failure: unknown;
  const rules = {
    force: false,
    ignoreDaemonSets: false,
    deleteEmptyDirData: false,
    skipWaitForDeleteTimeoutSeconds: 0,
    ...options.rules,
  };
  const { client, clock } = stage.plane;
  const report = { step: (text: string) => steps.push(text), progress: () => {} };
  drainNodes(
    { client, clock, report },
    { nodes, allOrNothing: true, dryRun: false, timeoutMs: 60_000, ...options, rules },
  ).then(
    (value) => (result = value),
    (error: unknown) => (failure = error),
  );
  for (let second = 0; second < 200 && result === undefined && failure === undefined; second += 1) {
    await clock.advance(1000);
    await tick();
    await stage.settle();
  }
  if (failure !== undefined) throw failure;
  if (result === undefined) throw new Error('the drain did not end');
  return { ...result, steps };
}

/** What kubelets and the owners of the pods do: what is going goes, and comes back elsewhere with its group. */
function replaceElsewhere(stage: Stage, seen: { down: number }): () => Promise<void> {
  let count = 0;
  return async () => {
    const { items } = await stage.plane.client.list(podType, { namespace: 'default' });
    const keyOf = (pod: (typeof items)[number]) => pod.spec?.workloadRef?.podGroupReplicaKey ?? '';
    const up = items.filter((pod) => !pod.metadata.deletionTimestamp).map(keyOf);
    const down = ['0', '1'].filter((key) => up.filter((one) => one === key).length < 3);
    seen.down = Math.max(seen.down, down.length);
    for (const pod of items.filter(({ metadata }) => metadata.deletionTimestamp)) {
      await stage.remove(pod.metadata.name ?? '');
      await member(stage, `new-${(count += 1)}`, keyOf(pod), { node: 'node-a' });
    }
  };
}

const isCordoned = async (stage: Stage, name: string): Promise<boolean> =>
  (await stage.plane.client.get(nodeType, { name })).spec?.unschedulable === true;

test(
  'B-01 B-02 draining node B is refused before any pod is touched, with the reason',
  withController(async (stage) => {
    await threeNodes(stage);
    const result = await drain(stage, ['node-b']);
    expect(result.outcome).toBe('Refused');
    expect(result.steps).toEqual(['node node-b cordoned', 'node node-b uncordoned again']);
    expect(await isCordoned(stage, 'node-b')).toBe(false);
    expect(await stage.names()).toHaveLength(6);
    expect(result.explanations).toMatchObject([
      {
        pod: 'b0',
        reason: 'BudgetExhausted',
        unit: { name: 'Workload/w/g/1', healthy: 3, minCount: 3 },
        jointly: true,
        budgets: [{ name: 'foo', counts: 'PodGroup', healthy: 1, desired: 1, allowed: 0 }],
        remedies: [{ action: 'Wait' }],
      },
    ]);
    expect(formatResult(result, stage.now)[0]).toBe(
      'Nothing was touched: budgets do not allow every pod to be evicted now (node-b).',
    );
  }),
);

test(
  'best effort drains node B one group at a time',
  withController(async (stage) => {
    await threeNodes(stage);
    const seen = { down: 0 };
    const result = await drain(stage, ['node-b'], { allOrNothing: false }, replaceElsewhere(stage, seen));
    expect(result.outcome).toBe('Drained');
    expect(seen.down).toBe(1);
    expect(result.steps.filter((text) => text.includes('waits'))).toHaveLength(1);
    expect(await isCordoned(stage, 'node-b')).toBe(true);
    expect(await stage.names()).toHaveLength(6);
  }),
);

test(
  'B-03 node A holds pods of one group only and is drained for one charge',
  withController(async (stage) => {
    await threeNodes(stage);
    const result = await drain(stage, ['node-a'], {}, async () => {
      const { items } = await stage.plane.client.list(podType, { namespace: 'default' });
      for (const { metadata } of items) if (metadata.deletionTimestamp) await stage.remove(metadata.name ?? '');
    });
    expect(result.outcome).toBe('Drained');
    expect(result.steps.filter((text) => text.endsWith('evicted'))).toEqual([
      'pod default/a0 evicted',
      'pod default/a1 evicted',
    ]);
  }),
);

test(
  'B-04 the same budget in pods lets both groups of node B break',
  withController(async (stage) => {
    await threeNodes(stage, { minAvailable: 3 }, { 'policy.quorate.dev/budget-scope': 'Pod' });
    const result = await drain(stage, ['node-b'], { dryRun: true });
    expect(result.outcome).toBe('WouldDrain');
  }),
);

test(
  'a dry run says the same and changes nothing',
  withController(async (stage) => {
    await threeNodes(stage);
    const before = stage.plane.store.revision;
    const result = await drain(stage, ['node-b'], { dryRun: true });
    expect(result.outcome).toBe('Refused');
    expect(result.pods.map(({ name, state, text }) => [name, state, text])).toEqual([
      ['a2', 'Planned', 'WithinBudget, group Workload/w/g/0'],
      ['b0', 'Waiting', 'BudgetExhausted, group Workload/w/g/1'],
    ]);
    expect(stage.plane.store.revision).toBe(before);
  }),
);

const refusedPods: { name: string; options: PodOptions; rule: string }[] = [
  {
    name: 'a DaemonSet pod',
    options: { owner: { ...owner, kind: 'DaemonSet', name: 'ds' } },
    rule: 'ignoreDaemonSets',
  },
  {
    name: 'a pod with an emptyDir volume',
    options: { owner, spec: { volumes: [{ name: 'v', emptyDir: {} }] } },
    rule: 'deleteEmptyDirData',
  },
  { name: 'a pod without a controller', options: {}, rule: 'force' },
];

for (const { name, options, rule } of refusedPods) {
  test(
    `T69 ${name} stops the drain before the first eviction unless its flag is given`,
    withController(async (stage) => {
      await stage.plane.client.create(nodeType, { metadata: { name: 'node-1' } });
      await stage.plane.client.create(daemonSetType, {
        metadata: { name: 'ds', namespace: 'default' },
        spec: {
          selector: { matchLabels: { app: 'ds' } },
          template: { metadata: { labels: { app: 'ds' } }, spec: { containers: [{ name: 'main', image: 'x' }] } },
        },
      });
      await stage.pod('plain', { owner });
      await stage.pod('special', options);
      const refused = await drain(stage, ['node-1']);
      expect(refused.outcome).toBe('NotEvictable');
      expect(refused.pods.find((pod) => pod.name === 'special')?.state).toBe('Refused');
      expect((await stage.getPod('plain')).metadata.deletionTimestamp).toBeUndefined();
      const allowed = await drain(stage, ['node-1'], {
        dryRun: true,
        rules: { [rule]: true } as unknown as DrainOptions['rules'],
      });
      expect(allowed.outcome).toBe('WouldDrain');
    }),
  );
}

test(
  'T70 a refused eviction is asked again after five seconds, one that cannot be is not',
  withController(async (stage) => {
    await stage.plane.client.create(nodeType, { metadata: { name: 'node-1' } });
    await stage.pod('p', { owner });
    await stage.pod('q', { owner, labels: { app: 'two' } });
    await stage.budget({ minAvailable: 1 });
    for (const name of ['one', 'two']) {
      await stage.budget({ minAvailable: 0, selector: { matchLabels: { app: 'two' } } }, { name });
    }
    await stage.settle();
    const start = stage.now;
    let grantedAt = 0;
    const result = await drain(stage, ['node-1'], { allOrNothing: false }, async () => {
      if (stage.now - start === 7_000) await stage.pod('spare', { owner, node: 'node-2' });
      const { items } = await stage.plane.client.list(podType, { namespace: 'default' });
      for (const { metadata } of items) {
        if (!metadata.deletionTimestamp) continue;
        grantedAt = stage.now - start;
        await stage.remove(metadata.name ?? '');
      }
    });
    expect(grantedAt).toBe(10_000);
    expect(result.outcome).toBe('Failed');
    expect(result.pods.map(({ name, state }) => [name, state])).toEqual([
      ['p', 'Gone'],
      ['q', 'Failed'],
    ]);
  }),
);

test(
  'T71 a replacement with the same name counts as gone',
  withController(async (stage) => {
    await stage.plane.client.create(nodeType, { metadata: { name: 'node-1' } });
    await stage.pod('p', { owner });
    const result = await drain(stage, ['node-1'], {}, async () => {
      if (!(await stage.getPod('p')).metadata.deletionTimestamp) return;
      await stage.remove('p');
      await stage.pod('p', { owner });
    });
    expect(result.outcome).toBe('Drained');
  }),
);

test(
  'a drain gives up when its time is over and says what it waited for',
  withController(async (stage) => {
    await stage.plane.client.create(nodeType, { metadata: { name: 'node-1' } });
    await stage.pod('p', { owner });
    await stage.budget({ minAvailable: 1 });
    await stage.settle();
    const result = await drain(stage, ['node-1'], { allOrNothing: false, timeoutMs: 20_000 });
    expect(result.outcome).toBe('TimedOut');
    expect(result.explanations).toMatchObject([{ pod: 'p', reason: 'BudgetExhausted' }]);
  }),
);

test(
  'why explains a pod and a budget with the same words as a refused eviction',
  withController(async (stage) => {
    await threeNodes(stage);
    await stage.evict('a0');
    await stage.settle();
    const { client } = stage.plane;
    const ask = (target: string) => explainTarget(client, { target, namespace: 'default', now: stage.now });
    const pod = await ask('b0');
    expect(pod.granted).toBe(false);
    const { status } = await stage.evict('b0');
    const said = status.details?.causes?.slice(1).map(({ message }) => message) ?? [];
    expect(said).not.toEqual([]);
    for (const message of said) expect(pod.lines.join('\n')).toContain(message);
    const budget = await ask('pdb/foo');
    expect(budget.lines[0]).toBe(
      'Budget foo (minAvailable 1) counts pod groups: 1 of 2 expected healthy, 1 needed, 0 may be disrupted.',
    );
    await expect(ask('pod/foo')).rejects.toThrow('no pod "foo" in namespace "default"');
    await expect(ask('service/foo')).rejects.toThrow('cannot explain');
    await expect(ask('node/foo')).rejects.toThrow('nodes "foo" not found');
  }),
);

test(
  '18.13: why tells of a group, of a node and of every budget what evictions and drains would get',
  withController(async (stage) => {
    await threeNodes(stage);
    const { client } = stage.plane;
    const ask = (target: string) => explainTarget(client, { target, namespace: 'default', now: stage.now });
    const everything = () => explainEverything(client, { now: stage.now });
    expect([await ask('group/w/g/1'), await ask('node/node-a')]).toMatchObject([{ granted: true }, { granted: true }]);
    // One pod of each group: both groups would be down.
    const both = await ask('node/node-b');
    expect(both.granted).toBe(false);
    expect((await drain(stage, ['node-b'], { dryRun: true })).outcome).toBe('Refused');
    expect(await everything()).toMatchObject({
      granted: true,
      lines: ['pdb/foo in namespace default: 1 may be disrupted now.'],
    });
    await stage.evict('a0');
    await stage.settle();
    const [down, whole] = [await ask('group/Workload/w/g/0'), await ask('Workload/w/g/1')];
    expect([down.granted, whole.granted]).toEqual([true, false]);
    expect(whole.lines.join('\n')).toContain('Workload/w/g/1');
    const stuck = await everything();
    expect(stuck.granted).toBe(false);
    expect(stuck.lines[0]).toBe('pdb/foo in namespace default lets nothing go now:');
    expect(stuck.lines.join('\n')).toContain('Workload/w/g/0');
    await expect(ask('podgroup/none')).rejects.toThrow('no group with pods "none" in namespace "default"');
  }),
);

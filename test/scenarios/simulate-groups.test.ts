/** Groups in simulations: loaded with their owners, made anew as a whole, and rolled out. */
import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { beforeAll, expect, test } from 'vitest';
import { leaderWorkerSetType } from '../../src/api/lws/types.ts';
import { cronJobType, daemonSetType, podDisruptionBudgetType, statefulSetType } from '../../src/api/resource-types.ts';
import type { KubeObject } from '../../src/api/resource.ts';
import { formatReport } from '../../src/cli/simulate/html.ts';
import { formatSimulation } from '../../src/cli/simulate/text.ts';
import { drawSvg } from '../../src/cli/simulate/picture/svg.ts';
import { simulate, type SimulationOptions, type Snapshot, takeSnapshot } from '../../src/tasks/index.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';

const story = (over: Partial<SimulationOptions>): SimulationOptions => ({
  actions: [{ kind: 'drain', nodes: ['node-0'] }],
  order: 'plan',
  nodeDowntimeMs: 60_000,
  reload: { defaultMs: 30_000, byWorkload: new Map() },
  limitMs: 3_600_000,
  stepMs: 1000,
  seed: 1,
  ...over,
});

const EXAMPLE = new URL('../../examples/gangs/serving.yaml', import.meta.url);
const TYPES = { LeaderWorkerSet: leaderWorkerSetType, PodDisruptionBudget: podDisruptionBudgetType };

async function pass(plane: ControlPlane, seconds: number): Promise<void> {
  for (let at = 0; at < seconds; at += 1) {
    await plane.clock.advance(1000);
    await plane.settle();
  }
}

let serving: Snapshot;
beforeAll(async () => {
  const plane = await startControlPlane({ nodes: 3, controllers: true });
  try {
    await pass(plane, 2);
    for (const document of parseAllDocuments(readFileSync(EXAMPLE, 'utf8'))) {
      const object = document.toJS() as KubeObject & { kind: keyof typeof TYPES };
      object.metadata.namespace = 'default';
      await plane.client.create(TYPES[object.kind] as never, object as never);
    }
    await pass(plane, 20);
    serving = await takeSnapshot(plane.client, { now: plane.clock.now() });
  } finally {
    await plane.stop();
  }
}, 180_000);

test('SM-01 and SM-02: a drain of gangs ends, each is made anew whole, and no budget is said to be broken', async () => {
  expect(serving.objects.filter(({ kind }) => kind === 'Pod')).toHaveLength(6);
  const result = await simulate(serving, story({}));
  expect(result).toMatchObject({ problems: [], settled: true, actions: [{ outcome: 'Drained', finished: true }] });
  expect(result.pods.after).toMatchObject({ ready: 6, total: 6 });
  const [line] = result.budgets;
  expect(line).toMatchObject({ id: 'default/chat', unit: 'groups', violations: [] });
  expect(new Set(line?.points.map(({ desired }) => desired))).toEqual(new Set([1]));
  expect(result.disruptedAgain).toEqual([]);

  // SM-10: what was simulated, numbers on both axes, where steps begin, and both lines.
  const picture = drawSvg(result, 'serving.json, seed 1');
  expect(picture).toContain('>Drain of node-0 (3 nodes, 6 pods), in 1 step, ');
  for (const part of ['class="step"', 'class="available"', 'class="desired"', '>2</text>', '>0s</text>', '<desc ']) {
    expect(picture).toContain(part);
  }
  const report = formatReport(result, 'serving.json, seed 1');
  for (const part of [picture, 'node node-0', 'No budget was broken.']) expect(report).toContain(part);
  expect(report).not.toMatch(/(src|href)=/);
}, 180_000);

const template = (app: string, annotations: Record<string, string> = {}) => ({
  metadata: { labels: { app }, annotations },
  spec: { containers: [{ name: 'main', image: 'example.com/app' }] },
});

let mixed: Snapshot;
beforeAll(async () => {
  const plane = await startControlPlane({ nodes: 3, controllers: true });
  const { client } = plane;
  try {
    await pass(plane, 2);
    const named = (name: string) => ({ metadata: { name, namespace: 'default' } });
    const selector = (app: string) => ({ matchLabels: { app } });
    await client.create(statefulSetType, {
      ...named('db'),
      spec: {
        replicas: 3,
        serviceName: 'db',
        selector: selector('db'),
        template: template('db'),
        updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
      },
    });
    await client.create(daemonSetType, {
      ...named('agent'),
      spec: { selector: selector('agent'), template: template('agent') },
    });
    await client.create(leaderWorkerSetType, {
      ...named('llm'),
      spec: { replicas: 2, leaderWorkerTemplate: { size: 2, workerTemplate: template('llm') } },
    });
    await pass(plane, 20);
    mixed = await takeSnapshot(client, { now: plane.clock.now() });
  } finally {
    await plane.stop();
  }
}, 180_000);

test('SM-03: a snapshot that nothing happens to stands still', async () => {
  const result = await simulate(mixed, story({ actions: [{ kind: 'wait', ms: 3_600_000 }], limitMs: 4_000_000 }));
  expect(result).toMatchObject({ problems: [], end: 'Finished', changes: { created: 0, deleted: 0 } });
  expect(result.pods.after).toEqual(result.pods.before);
}, 180_000);

test.each([
  // Ordinals 2 and 1, in this order; what is below the partition stays.
  ['SM-04: a StatefulSet rolls out from the highest ordinal down to its partition', 'statefulset/db', ['db-2', 'db-1']],
  ['a DaemonSet rolls out node by node', 'daemonset/agent', 3],
  ['a LeaderWorkerSet rolls out group by group', 'lws/llm', 4],
] as const)(
  '%s',
  async (_, workload, expected) => {
    const result = await simulate(mixed, story({ actions: [{ kind: 'rollout', workload }] }));
    expect(result).toMatchObject({ problems: [], end: 'Finished' });
    expect(result.pods.after).toMatchObject({ ready: 10, total: 10 });
    const gone = result.events.flatMap(({ text }) => /^pod default\/(\S+) is gone$/.exec(text)?.[1] ?? []);
    if (typeof expected === 'number') expect(gone).toHaveLength(expected);
    else expect(gone).toEqual(expected);
  },
  180_000,
);

async function cron(over: object): Promise<Snapshot> {
  const plane = await startControlPlane({ nodes: 1, controllers: true });
  try {
    await pass(plane, 2);
    const { client } = plane;
    const spec = { ...template('tick').spec, restartPolicy: 'Never' };
    await client.create(cronJobType, {
      metadata: { name: 'tick', namespace: 'default' },
      spec: {
        schedule: '*/5 * * * *',
        jobTemplate: { spec: { template: { spec } } },
        ...over,
      },
    });
    await pass(plane, 2);
    return await takeSnapshot(client, { now: plane.clock.now() });
  } finally {
    await plane.stop();
  }
}

test('SM-05: a CronJob fires in simulated time', async () => {
  const actions = [{ kind: 'wait', ms: 3_600_000 }] as const;
  const jobs = async (snapshot: Snapshot): Promise<number> => {
    const result = await simulate(snapshot, story({ actions, limitMs: 4_000_000, stepMs: 5_000 }));
    return result.events.filter(({ text }) => /^pod default\/tick-\S+ is made$/.test(text)).length;
  };
  expect(await jobs(await cron({}))).toBe(12);
}, 180_000);

test('SM-06: a node is replaced by one that comes first, and there are never fewer than before', async () => {
  const result = await simulate(serving, story({ actions: [{ kind: 'replace', nodes: ['node-1'] }] }));
  expect(result).toMatchObject({ problems: [], end: 'Finished', actions: [{ outcome: 'Replaced' }] });
  expect(result.events[0]).toEqual({ seconds: 90, text: 'node node-1-new is ready' });
  expect(result.budgets[0]?.violations).toEqual([]);
}, 180_000);

test('SM-07: a spot node goes when its notice is over, and what breaks then was nobody’s choice', async () => {
  const actions = [{ kind: 'spot', node: 'node-0', noticeMs: 120_000 }] as const;
  const strict = {
    ...serving,
    objects: serving.objects.map((object) =>
      object.kind === 'PodDisruptionBudget'
        ? { ...object, spec: { ...(object as { spec?: object }).spec, maxUnavailable: 0 } }
        : object,
    ),
  };
  const result = await simulate(strict, story({ actions }));
  expect(result.events).toContainEqual({ seconds: 120, text: expect.stringMatching(/^node node-0 is lost/) });
  expect(result.budgets[0]?.violations).toMatchObject([{ fromSeconds: 120, involuntary: true }]);
}, 180_000);

test('SM-09: groups that wait for each other’s room end it stuck, each named with what it waits for', async () => {
  const on = (name: string): number =>
    serving.objects.filter((object) => (object as { spec?: { nodeName?: string } }).spec?.nodeName === name).length;
  const objects = serving.objects.map((object) => {
    if (object.kind !== 'Node') return object;
    const { status = {} } = object as { status?: { allocatable?: object; capacity?: object } };
    const pods = String(on(object.metadata.name ?? ''));
    const full = { allocatable: { ...status.allocatable, pods }, capacity: { ...status.capacity, pods } };
    return { ...object, status: { ...status, ...full } };
  });
  const nodes = ['node-0', 'node-1', 'node-2'].filter((name) => on(name) > 0);
  expect(nodes.length).toBeGreaterThan(1);
  const result = await simulate({ ...serving, objects }, story({ actions: [{ kind: 'drain', nodes }] }));
  expect(result).toMatchObject({ end: 'Stuck', actions: [{ finished: false }] });
  const waits = result.actions[0]?.waits ?? [];
  expect(waits.map(({ unit }) => unit).sort()).toEqual([
    'default/LeaderWorkerSet/chat/0',
    'default/LeaderWorkerSet/chat/1',
  ]);
  for (const { for: room } of waits) expect(room).toMatch(/^NoRoom: /);
  expect(formatSimulation(result).join('\n')).toContain('default/LeaderWorkerSet/chat/1 waits: NoRoom: ');
}, 180_000);

test('SM-08: the same seed tells the same story', async () => {
  const once = await simulate(serving, story({ seed: 7 }));
  expect(JSON.stringify(await simulate(serving, story({ seed: 7 })))).toBe(JSON.stringify(once));
}, 180_000);

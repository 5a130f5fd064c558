/** A saved plan carried out, and a snapshot played, on planes whose time is moved by hand. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { PodSpec } from '../../src/api/generated/core-v1.ts';
import { deploymentType, nodeType, podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import {
  executePlan,
  type ExecuteOptions,
  planClusterDrain,
  type PlannedDrain,
  readPlanFile,
  readSnapshot,
  simulate,
  type SimulationOptions,
  type Snapshot,
  takeSnapshot,
} from '../../src/tasks/index.ts';
import { drawSvg } from '../../src/cli/simulate/picture/svg.ts';
import { runSimulate, type SimulateFlags } from '../../src/cli/simulate/run.ts';
import { formatSimulation } from '../../src/cli/simulate/text.ts';
import { type ControlPlane, deployment, pod, podDisruptionBudget, startControlPlane } from '../../src/testkit/index.ts';

let plane: ControlPlane;
let snapshot: Snapshot;
let folder: string;

async function pass(target: ControlPlane, seconds: number): Promise<void> {
  for (let at = 0; at < seconds; at += 1) {
    await target.clock.advance(1000);
    await target.settle();
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-plan-'));
  plane = await startControlPlane({ nodes: 3, controllers: true });
  const { client } = plane;
  await pass(plane, 2);
  const web = deployment({ name: 'web', replicas: 3 });
  const [container] = web.spec?.template.spec?.containers ?? [];
  Object.assign(container as object, {
    env: [{ name: 'TOKEN', value: 'hunter2' }],
    command: ['serve', '--key=hunter2'],
  });
  web.metadata.annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'hunter2' };
  await client.create(deploymentType, web);
  const spec = { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } };
  await client.create(podDisruptionBudgetType, podDisruptionBudget({ name: 'web', spec }));
  await pass(plane, 10);
  snapshot = await takeSnapshot(client, { now: plane.clock.now() });
}, 180_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await plane?.stop();
});

const nodeOf = async (target: ControlPlane): Promise<string[]> => {
  const { items } = await target.client.list(podType, { namespace: 'default' });
  return items.map(({ spec }) => spec?.nodeName ?? '').sort();
};

const story = (over: Partial<SimulationOptions>): SimulationOptions => ({
  actions: [{ kind: 'drain', nodes: ['node-0', 'node-1'] }],
  order: 'plan',
  nodeDowntimeMs: 60_000,
  reload: { defaultMs: 30_000, byWorkload: new Map() },
  limitMs: 3_600_000,
  stepMs: 1000,
  seed: 1,
  ...over,
});

test('takeSnapshot() keeps what decisions need and no value that a program reads', () => {
  expect(snapshot).toMatchObject({ format: 'quorate-snapshot', version: 1, missing: {} });
  expect(new Set(snapshot.objects.map(({ kind }) => kind))).toEqual(
    new Set(['Deployment', 'Namespace', 'Node', 'Pod', 'PodDisruptionBudget', 'PriorityClass', 'ReplicaSet']),
  );
  expect(JSON.stringify(snapshot)).not.toContain('hunter2');
});

test('18.10: simulate() plays the count of pods as well where Kubernetes makes one, and says so', async () => {
  const group = { 'policy.quorate.dev/group-by': 'label:app', 'policy.quorate.dev/group-min-count': '1' };
  const counted = { observedGeneration: 1, expectedPods: 3, currentHealthy: 3, desiredHealthy: 3 };
  const objects = (conditions: object[], desiredHealthy = 3) =>
    snapshot.objects.map((object) =>
      object.kind === 'PodDisruptionBudget'
        ? {
            ...object,
            metadata: { ...object.metadata, annotations: group },
            status: { ...counted, desiredHealthy, conditions },
          }
        : object,
    );
  const marker = { type: 'CountsGroups', status: 'True', reason: 'GroupUnits', message: '', lastTransitionTime: '' };
  const play = (conditions: object[], desiredHealthy?: number) =>
    simulate(
      { ...snapshot, objects: objects(conditions, desiredHealthy) },
      story({ order: 'node-by-node', limitMs: 5000 }),
    );
  const evicted = ({ events }: Awaited<ReturnType<typeof play>>): number =>
    events.filter(({ text }) => text.endsWith(' evicted')).length;
  // One group of three with a minimum of one: two may go by groups.
  const ours = await play([marker]);
  expect(ours.countedTwice).toEqual([]);
  expect(evicted(ours)).toBeGreaterThan(0);
  const tighter = await play([]);
  expect(tighter.countedTwice).toEqual(['default/web']);
  expect(evicted(tighter)).toBe(0);
  expect(formatSimulation(tighter).join('\n')).toContain(
    'Kubernetes counts the pods of 1 budgets as well (default/web): an eviction needed room in both counts.',
  );
  // Room for one: it goes, and the next waits until it is back.
  const slower = await play([], 2);
  expect(evicted(slower)).toBeGreaterThan(0);
  expect(slower.events.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/^pod .* waits: The disruption budget web needs 2 healthy pods and has 2 currently/),
  );
  // It cannot be counted: nothing goes.
  const failed = {
    type: 'DisruptionAllowed',
    status: 'False',
    reason: 'SyncFailed',
    message: '',
    lastTransitionTime: '',
  };
  expect(evicted(await play([failed], 0))).toBe(0);
});

test('simulate() drains in simulated time within the budget, and tells the same story for the same seed', async () => {
  const result = await simulate(snapshot, story({}));
  expect(result).toMatchObject({ settled: true, problems: [], actions: [{ outcome: 'Drained' }] });
  const [web] = result.budgets;
  expect(web).toMatchObject({ id: 'default/web', unit: 'pods', violations: [] });
  expect(Math.min(...(web?.points ?? []).map(({ available }) => available))).toBe(2);
  // A pod that is moved takes 30 s to be ready again, and the budget lets one go at a time.
  expect(result.seconds).toBeGreaterThanOrEqual(60);
  expect(await simulate(snapshot, story({}))).toEqual(result);
  expect(formatSimulation(result).join('\n')).toContain('No budget was broken.');
  expect(drawSvg(result)).toMatch(/^<svg [^]*default\/web[^]*<\/svg>\n$/);
}, 180_000);

test('simulate() shows when a failed node breaks a budget, and when it is whole again', async () => {
  const result = await simulate(snapshot, story({ actions: [{ kind: 'fail', nodes: ['node-0', 'node-1'] }] }));
  const [violation] = result.budgets[0]?.violations ?? [];
  expect(violation).toMatchObject({ missing: 1 });
  // Heartbeats are missed for a while, and pods are evicted five minutes after that.
  expect(violation?.toSeconds).toBeGreaterThan(300);
}, 180_000);

test('simulate() scales a workload', async () => {
  const actions = [{ kind: 'scale', workload: 'deployment/web', replicas: 1 }] as const;
  expect((await simulate(snapshot, story({ actions }))).pods.after).toMatchObject({ total: 1, ready: 1 });
}, 180_000);

const flags: SimulateFlags = {
  nodeDowntime: 1000,
  nodeStart: 1000,
  readyAfter: { defaultMs: 0, byWorkload: new Map() },
  order: 'plan',
  for: 1000,
  step: 1000,
  seed: 1,
  output: 'text',
};

/** What the command says on standard error, and its exit code. */
async function complaint(file: string, over: Partial<SimulateFlags>): Promise<[string, number]> {
  let said = '';
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    said += String(text);
    return true;
  });
  try {
    const code = await runSimulate(file, { ...flags, ...over });
    return [said, code];
  } finally {
    spy.mockRestore();
  }
}

test('runSimulate() says in one line what is wrong with its input, and ends with 1', async () => {
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('good.json'), JSON.stringify(snapshot));
  writeFileSync(at('newer.json'), JSON.stringify({ ...snapshot, version: 2 }));
  writeFileSync(at('other.json'), '{"kind": "List"}');
  writeFileSync(at('broken.yaml'), 'format: quorate-snapshot\nobjects: [a, b\nversion: 1\n');
  const drain = { drain: ['node-0'] };
  expect(await complaint(at('none.json'), drain)).toEqual([
    `quorate simulate: Cannot read ${at('none.json')}: no such file\n`,
    1,
  ]);
  expect(await complaint(at('newer.json'), drain)).toEqual([
    `quorate simulate: Cannot use ${at('newer.json')}: it has version 2 of the format, this quorate knows up to 1; use a newer quorate\n`,
    1,
  ]);
  const [broken, code] = await complaint(at('broken.yaml'), drain);
  expect(broken).toMatch(/^quorate simulate: \S+broken\.yaml:\d+:\d+: [^\n]+\n$/);
  expect(code).toBe(1);
  expect((await complaint(at('other.json'), drain))[0]).toContain('it is not a snapshot');
  expect(await complaint(at('good.json'), { drain: ['node-9'] })).toEqual([
    'quorate simulate: no such node in the snapshot: node-9\n',
    1,
  ]);
  expect((await complaint(at('good.json'), {}))[0]).toBe(
    'quorate simulate: say what happens: --drain, --upgrade, --replace, --scale-down, --rollout, --fail, --spot or --wait\n',
  );
  expect(() => readSnapshot(folder)).toThrow(`Cannot read ${folder}: it is a folder`);
  expect(() => readPlanFile(at('good.json'))).toThrow('it is not a drain plan');
});

/** Carries out a plan while time passes. */
async function carryOut(target: ControlPlane, planned: PlannedDrain, over: Partial<ExecuteOptions> = {}) {
  const { client, clock } = target;
  const report = { step: () => {}, progress: () => {} };
  const rules = { force: false, ignoreDaemonSets: true, deleteEmptyDirData: false, skipWaitForDeleteTimeoutSeconds: 0 };
  let result: Awaited<ReturnType<typeof executePlan>> | undefined;
  const options = { rules, timeoutMs: 0, stepsDone: 0, isPaused: () => false, save: () => {}, ...over };
  const ended = executePlan({ client, clock, report }, planned, options).then((end) => (result = end));
  for (let at = 0; at < 120 && result === undefined; at += 1) await pass(target, 1);
  return result === undefined ? undefined : await ended;
}

test('executePlan() pauses between evictions, goes on where it was, and refuses a cluster that has moved on', async () => {
  const { client, clock } = plane;
  const request = { nodes: ['node-0', 'node-1'], selector: undefined, all: false, nodesReturn: false };
  const planned = await planClusterDrain(client, { ...request, now: clock.now() });
  expect(planned.plan.steps.filter(({ evictions }) => evictions.length > 0)).toHaveLength(2);
  let paused = false;
  let stepsDone = 0;
  const run = (over: Partial<ExecuteOptions> = {}) =>
    carryOut(plane, planned, {
      stepsDone,
      isPaused: () => paused,
      save: (done) => {
        stepsDone = done;
        paused = true;
      },
      ...over,
    });
  expect(await run()).toMatchObject({ outcome: 'Paused', stepsDone: 1, steps: 2 });
  paused = false;
  expect(await run()).toMatchObject({ outcome: 'Done', stepsDone: 2 });
  await pass(plane, 5);
  expect(await nodeOf(plane)).toEqual(['node-2', 'node-2', 'node-2']);

  await client.patch(nodeType, { name: 'node-0' }, { type: 'merge', body: { spec: { unschedulable: null } } });
  await client.create(podType, pod({ name: 'late', spec: { nodeName: 'node-0' } }));
  expect(await run({ stepsDone: 0 })).toMatchObject({
    outcome: 'MovedOn',
    problems: ['pod default/late is on node-0 and not in the plan'],
  });
}, 180_000);

test('PL-12: a group whose room was taken since the plan was made is not begun, and is named', async () => {
  const own = await startControlPlane({ nodes: 3, controllers: true });
  try {
    const { client, clock } = own;
    await pass(own, 2);
    const web = deployment({ name: 'web', replicas: 2 });
    const spec = web.spec?.template.spec as PodSpec;
    const [container] = spec.containers;
    Object.assign(container as object, { resources: { requests: { cpu: '2' } } });
    const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'web' } } };
    spec.affinity = {
      podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: term }] },
    };
    await client.create(deploymentType, web);
    const budget = { maxUnavailable: 1, selector: { matchLabels: { app: 'web' } } };
    await client.create(podDisruptionBudgetType, podDisruptionBudget({ name: 'web', spec: budget }));
    await pass(own, 10);
    const nodes = [...new Set(await nodeOf(own))];
    expect(nodes).toHaveLength(2);
    const planned = await planClusterDrain(client, { nodes, all: false, nodesReturn: false, now: clock.now() });
    expect(planned.plan).toMatchObject({ steps: [{}, {}], blocked: [] });
    const [free = ''] = ['node-0', 'node-1', 'node-2'].filter((name) => !nodes.includes(name));
    const { status } = await client.get(nodeType, { name: free });
    let paused = false;
    const first = await carryOut(own, planned, { isPaused: () => paused, save: () => void (paused = true) });
    expect(first).toMatchObject({ outcome: 'Paused', stepsDone: 1 });
    const requests = { cpu: String(Number(status?.allocatable?.['cpu']) - 3) };
    const containers = [{ name: 'main', image: 'filler', resources: { requests } }];
    await client.create(podType, pod({ name: 'filler', spec: { nodeName: free, containers } }));
    const result = await carryOut(own, planned, { stepsDone: 1 });
    expect(result).toMatchObject({ outcome: 'NoRoom', stepsDone: 1 });
    const [second] = planned.plan.steps[1]?.evictions ?? [];
    expect(result?.problems).toEqual([expect.stringMatching(`^${second?.unit}: NoRoom: 2 cpu on one node`)]);
    for (const id of second?.pods ?? []) {
      const name = id.split('/')[1] ?? '';
      expect((await client.get(podType, { namespace: 'default', name })).metadata.deletionTimestamp).toBeUndefined();
    }
  } finally {
    await own.stop();
  }
}, 180_000);

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readPod } from '../../../src/decisions/disruption/index.ts';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { ManualClock } from '../../../src/machinery/runtime/index.ts';
import { createMemoryStore } from '../../../src/storage/index.ts';
import { startControlPlane } from '../../../src/testkit/index.ts';
import { onPlane, Stage, withController, workloadType } from './support.ts';

test(
  '64 clients at once get exactly what one budget allows',
  withController(async (stage) => {
    for (let at = 0; at < 64; at += 1) await stage.pod(`p${at}`);
    await stage.budget({ minAvailable: 41 });
    await stage.settle();
    const answers = await Promise.all(Array.from({ length: 64 }, (_, at) => stage.evict(`p${at}`)));
    expect(answers.filter(({ code }) => code === 201)).toHaveLength(23);
    expect(answers.filter(({ code }) => code === 429)).toHaveLength(41);
  }),
);

/** `npm run test:histories` plays 10,000 in each mode. */
const HISTORIES = Number(process.env['QUORATE_HISTORIES'] ?? 40);

const UNITS = 3;
const SIZE = 3;
const MIN_COUNT = 2;

const unit = fc.integer({ min: 0, max: UNITS - 1 });
const at = fc.integer({ min: 0, max: SIZE - 1 });
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('evict' as const), unit, at }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('evict together' as const),
      pods: fc.array(fc.tuple(unit, at), { minLength: 2, maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('ready' as const), unit, at, ready: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), unit, at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('replace' as const), unit, at }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('budget' as const), minAvailable: fc.integer({ min: 0, max: UNITS }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(0, 1, 130) }) },
);

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function setUp(stage: Stage, grouped: boolean): Promise<void> {
  await stage.plane.client.create(workloadType, {
    metadata: { name: 'w', namespace: 'default' },
    spec: { podGroups: [{ name: 'g', replicas: UNITS, policy: { gang: { minCount: MIN_COUNT } } }] },
  });
  await stage.budget({ minAvailable: grouped ? 2 : 6 });
  for (let one = 0; one < UNITS; one += 1)
    for (let pod = 0; pod < SIZE; pod += 1) await place(stage, one, pod, grouped);
}

async function place(stage: Stage, one: number, pod: number, grouped: boolean): Promise<void> {
  const workloadRef = { name: 'w', podGroup: 'g', podGroupReplicaKey: String(one) };
  await stage.pod(`g${one}p${pod}`, { finalizers: ['example.com/hold'], ...(grouped && { spec: { workloadRef } }) });
}

/** Units or pods that are up by the pods alone, evicted ones not counted: what the budget is about. */
async function available(stage: Stage, grouped: boolean): Promise<number> {
  const { items } = await stage.plane.client.list(podType, { namespace: 'default' });
  const up = items.map(readPod).filter((pod) => pod.ready && pod.deletionTimestamp === undefined);
  if (!grouped) return up.length;
  const counts = Array.from({ length: UNITS }, (_, one) => up.filter(({ name }) => name.startsWith(`g${one}`)).length);
  return counts.filter((count) => count >= MIN_COUNT).length;
}

/** A plane whose process may end at any step; what it stored and the time of day stay. */
class Restartable {
  readonly #debounceMs: number;
  readonly #clock = new ManualClock();
  readonly #store = createMemoryStore({ now: () => this.#clock.now() });
  #starts = 0;
  stage!: Stage;

  constructor(debounceMs: number) {
    this.#debounceMs = debounceMs;
  }

  async start(): Promise<void> {
    this.#starts += 1;
    const controllers = [createDisruptionController({ debounceMs: this.#debounceMs })];
    this.stage = new Stage(
      await startControlPlane({ clock: this.#clock, store: this.#store, seed: this.#starts, controllers }),
    );
  }

  async restart(): Promise<void> {
    await this.stage.plane.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.stage.plane.stop();
    await this.#store.close();
  }
}

async function play(steps: readonly Step[], grouped: boolean, debounceMs: number): Promise<void> {
  const host = new Restartable(debounceMs);
  await host.start();
  try {
    await playOn(host, steps, grouped);
  } finally {
    await host.stop();
  }
}

async function playOn(host: Restartable, steps: readonly Step[], grouped: boolean): Promise<void> {
  await setUp(host.stage, grouped);
  await host.stage.settle();
  let minAvailable = grouped ? 2 : 6;
  for (const one of steps) {
    const { stage } = host;
    const name = 'unit' in one ? `g${one.unit}p${one.at}` : '';
    const exists = name !== '' && (await stage.podExists(name));
    switch (one.kind) {
      case 'evict': {
        if (!exists) break;
        const before = await available(stage, grouped);
        const wasUp = readPod(await stage.getPod(name));
        const { code } = await stage.evict(name);
        const after = await available(stage, grouped);
        // What is granted either takes nothing from the count, or leaves what the budget asks for.
        if (code === 201 && after < before) expect(after, JSON.stringify(one)).toBeGreaterThanOrEqual(minAvailable);
        if (code !== 201) expect((await stage.getPod(name)).metadata.deletionTimestamp).toBe(wasUp.deletionTimestamp);
        break;
      }
      case 'evict together': {
        const before = await available(stage, grouped);
        const answers = await Promise.all(one.pods.map(([unit, at]) => stage.evict(`g${unit}p${at}`)));
        const after = await available(stage, grouped);
        const granted = answers.some(({ code }) => code === 201);
        if (granted && after < before) expect(after, JSON.stringify(one)).toBeGreaterThanOrEqual(minAvailable);
        if (!granted) expect(after).toBe(before);
        break;
      }
      case 'restart':
        await host.restart();
        break;
      case 'ready':
        if (exists) await stage.setReady(name, one.ready);
        break;
      case 'delete':
        if (exists) await stage.plane.client.delete(podType, { namespace: 'default', name });
        break;
      case 'replace':
        if (exists) await free(stage, name);
        await place(stage, one.unit, one.at, grouped);
        break;
      case 'budget': {
        minAvailable = grouped ? one.minAvailable : one.minAvailable * SIZE;
        const key = { namespace: 'default', name: 'foo' };
        await stage.plane.client.patch(podDisruptionBudgetType, key, {
          type: 'merge',
          body: { spec: { minAvailable } },
        });
        break;
      }
      case 'wait':
        await stage.plane.clock.advance(one.seconds * 1000);
    }
  }
}

async function free(stage: Stage, name: string): Promise<void> {
  const key = { namespace: 'default', name };
  await stage.plane.client.patch(podType, key, { type: 'merge', body: { metadata: { finalizers: null } } });
  if (await stage.podExists(name)) await stage.remove(name);
}

for (const grouped of [true, false]) {
  test(
    `no history of evictions and failures leaves a budget in ${grouped ? 'groups' : 'pods'} broken by an eviction`,
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 25 }),
          fc.constantFrom(0, 100),
          (steps, debounceMs) => play(steps, grouped, debounceMs),
        ),
        { numRuns: HISTORIES },
      );
    },
    Math.max(120_000, HISTORIES * 1000),
  );
}

test(
  'evictions without any controller never grant more than was published',
  onPlane(async (stage) => {
    for (let one = 0; one < 20; one += 1) await stage.pod(`p${one}`);
    await stage.budget({ minAvailable: 10 });
    await stage.publish([7, 17, 10, 20]);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, one) => stage.evict(`p${one}`)));
    expect(answers.filter(({ code }) => code === 201)).toHaveLength(7);
  }),
);

/** A budget that gathers what approved evictions bring about, and is prompt in everything else. */
import { expect, test } from 'vitest';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { onPlane, type Stage } from './support.ts';

const gathering = (scenario: (stage: Stage) => Promise<void>) =>
  onPlane(scenario, { controller: createDisruptionController({ debounceMs: 50 }) });

async function threePods(stage: Stage): Promise<void> {
  await stage.budget({ minAvailable: 1 });
  for (const name of ['p0', 'p1', 'p2']) await stage.pod(name);
  await stage.settle();
  await stage.plane.clock.advance(1000);
  expect(await stage.numbers()).toEqual([2, 3, 1, 3]);
}

test(
  'evictions are charged at once and counted together a moment later',
  gathering(async (stage) => {
    await threePods(stage);
    const { resourceVersion: before } = (await stage.getBudget()).metadata;
    for (const name of ['p0', 'p1']) {
      expect((await stage.evict(name, { deleteOptions: { gracePeriodSeconds: 0 } })).code).toBe(201);
    }
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 3, 1, 3]);
    expect((await stage.evict('p2')).code).toBe(429);
    const charged = (await stage.getBudget()).metadata.resourceVersion;

    await stage.plane.clock.advance(50);
    await stage.settle();
    const budget = await stage.getBudget();
    expect(await stage.numbers()).toEqual([0, 1, 1, 1]);
    expect(budget.status?.disruptedPods).toBeUndefined();
    expect(charged).not.toBe(before);
    await stage.plane.clock.advance(1000);
    expect((await stage.getBudget()).metadata.resourceVersion).toBe(budget.metadata.resourceVersion);
  }),
);

test(
  'a pod that becomes unready or is deleted without an eviction is counted at once',
  gathering(async (stage) => {
    await threePods(stage);
    await stage.setReady('p0', false);
    await stage.settle();
    expect(await stage.numbers()).toEqual([1, 2, 1, 3]);
    await stage.remove('p1');
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 1, 1, 2]);
  }),
);

test(
  'a changed specification is counted at once',
  gathering(async (stage) => {
    await threePods(stage);
    await stage.post(
      '/apis/policy/v1/namespaces/default/poddisruptionbudgets/foo',
      { ...(await stage.getBudget()), spec: { minAvailable: 2, selector: { matchLabels: { app: 'a' } } } },
      'PUT',
    );
    await stage.settle();
    expect(await stage.numbers()).toEqual([1, 3, 2, 3]);
  }),
);

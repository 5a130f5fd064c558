import { expect, test } from 'vitest';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { formatTime } from '../../../src/machinery/values/index.ts';
import { objectKey } from '../../../src/apiserver/index.ts';
import { type Stage, withController, nudge } from './support.ts';

test(
  'T30 approvals are kept for pods that are waited for, dropped for the rest',
  withController(async (stage) => {
    await stage.pod('p1', { finalizers: ['example.com/hold'] });
    await stage.plane.client.delete(podType, { namespace: 'default', name: 'p1' });
    await stage.pod('p2');
    await stage.pod('p3');
    await stage.budget({ minAvailable: 1 });
    await stage.settle();
    const ago = (minutes: number): string => formatTime(stage.now - minutes * 60_000);
    await stage.publish([0, 0, 1, 3], { disruptedPods: { p1: ago(1), p2: ago(3), p3: ago(1), nobody: ago(1) } });
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 1, 1, 3]);
    expect((await stage.getBudget()).status?.disruptedPods).toEqual({ p3: ago(1) });
    expect((await stage.events('NotDeleted')).map((event) => event.involvedObject.name)).toEqual(['p2']);
    await stage.plane.clock.advance(61_000);
    await stage.settle();
    expect((await stage.getBudget()).status?.disruptedPods).toBeUndefined();
    expect(await stage.numbers()).toEqual([1, 2, 1, 3]);
  }),
);

test(
  'T31 an approval exactly two minutes old is kept while its pod counts again',
  withController(async (stage) => {
    await stage.pod('p');
    await stage.budget({ minAvailable: 0 });
    await stage.settle();
    const at = formatTime(stage.now - 120_000);
    await stage.publish([0, 0, 0, 1], { disruptedPods: { p: at } });
    await stage.settle();
    expect((await stage.numbers())[1]).toBe(1);
    expect((await stage.getBudget()).status?.disruptedPods).toEqual({ p: at });
  }),
);

test(
  'T32 an eviction that comes between the look and the write is not undone',
  withController(async (stage) => {
    for (const name of ['p', 'q', 'r']) await stage.pod(name);
    await stage.budget({ minAvailable: 1 });
    await stage.settle();
    const stale = await stage.getBudget();
    expect((await stage.evict('p')).code).toBe(201);
    await expect(stage.plane.client.updateStatus(podDisruptionBudgetType, stale)).rejects.toMatchObject({ code: 409 });
    await stage.settle();
    expect(await stage.numbers()).toEqual([1, 2, 1, 3]);
  }),
);

test(
  'T33 a stored selector that cannot be read fails the sync',
  withController(async (stage) => {
    const { registry, store } = stage.plane.server.context;
    const row = registry.byPlural('policy', 'poddisruptionbudgets');
    if (row === undefined) throw new Error('not served');
    await store.transact((transaction) =>
      transaction.put(objectKey(row, 'default', 'foo'), (revision) =>
        Buffer.from(
          JSON.stringify({
            kind: 'PodDisruptionBudget',
            apiVersion: 'policy/v1',
            metadata: { name: 'foo', namespace: 'default', uid: 'u', generation: 1, resourceVersion: String(revision) },
            spec: { minAvailable: 1, selector: { matchExpressions: [{ key: 'a', operator: 'Near' }] } },
          }),
        ),
      ),
    );
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 0, 0, 0]);
    expect((await stage.condition())?.reason).toBe('SyncFailed');
    expect((await stage.events('NoPods'))[0]?.type).toBe('Warning');
  }),
);

test(
  'T34 T35 other conditions are kept and a second look writes nothing',
  withController(async (stage) => {
    await stage.pod('p');
    await stage.budget({ minAvailable: 0 });
    await stage.settle();
    const { status } = await stage.getBudget();
    const other = {
      type: 'Other',
      status: 'True',
      reason: 'R',
      message: '',
      lastTransitionTime: formatTime(stage.now),
    };
    await stage.publish([0, 0, 0, 0], { conditions: [...(status?.conditions ?? []), other] });
    await stage.settle();
    const after = await stage.getBudget();
    expect(after.status?.conditions?.map(({ type }) => type)).toEqual(['DisruptionAllowed', 'Other']);
    await nudge(stage);
    expect((await stage.getBudget()).metadata.resourceVersion).toBe(after.metadata.resourceVersion);
  }),
);

test(
  'T36 a budget that is deleted is let go of',
  withController(async (stage) => {
    await stage.budget({ minAvailable: 0 });
    await stage.plane.client.delete(podDisruptionBudgetType, { namespace: 'default', name: 'foo' });
    await stage.settle();
    await expect(stage.getBudget()).rejects.toMatchObject({ code: 404 });
  }),
);

test(
  'T37 a failed sync leaves the observed generation, so evictions wait',
  withController(async (stage) => {
    await stage.pod('p');
    await stage.budget({ minAvailable: 0 });
    await stage.settle();
    await stage.pod('q', {
      owner: { apiVersion: 'example.com/v1', kind: 'Thing', name: 't', uid: 'u', controller: true },
    });
    const key = { namespace: 'default', name: 'foo' };
    await stage.plane.client.patch(podDisruptionBudgetType, key, {
      type: 'merge',
      body: { spec: { minAvailable: '10%' } },
    });
    await stage.settle();
    const { metadata, status } = await stage.getBudget();
    expect([metadata.generation, status?.observedGeneration, status?.disruptionsAllowed]).toEqual([2, 1, 0]);
    expect((await stage.evict('p')).retryAfter).toBe('10');
  }),
);

const announced = (stage: Stage, reason = 'EvictionByEvictionAPI') => ({
  conditions: [{ type: 'DisruptionTarget', status: 'True', reason, lastTransitionTime: formatTime(stage.now) }],
});

const targetOf = async (stage: Stage) =>
  (await stage.getPod('p')).status?.conditions?.find(({ type }) => type === 'DisruptionTarget');

test(
  'T38 a disruption that was announced and did not happen is taken back after two minutes',
  withController(async (stage) => {
    const due = stage.now + 120_000;
    await stage.pod('p', announced(stage));
    await stage.settle();
    await stage.plane.clock.advance(119_000);
    await stage.settle();
    expect((await targetOf(stage))?.status).toBe('True');
    await stage.plane.clock.advance(2_000);
    await stage.settle();
    expect(await targetOf(stage)).toMatchObject({ status: 'False', lastTransitionTime: formatTime(due) });
    expect((await targetOf(stage))?.reason).toBeUndefined();
  }),
);

test(
  'T39 announcements on pods that go, have failed or belong to the kubelet stay',
  withController(async (stage) => {
    for (const options of [
      { ...announced(stage), finalizers: ['example.com/hold'] },
      { ...announced(stage), phase: 'Failed' },
      announced(stage, 'TerminationByKubelet'),
    ]) {
      await stage.pod('p', options);
      if ('finalizers' in options) await stage.plane.client.delete(podType, { namespace: 'default', name: 'p' });
      await stage.plane.clock.advance(180_000);
      await stage.settle();
      expect((await targetOf(stage))?.status).toBe('True');
      const pod = await stage.getPod('p');
      await stage.plane.client.update(podType, { ...pod, metadata: { ...pod.metadata, finalizers: [] } });
      if (await stage.podExists('p')) await stage.remove('p');
    }
  }),
);

test(
  'a pod of several budgets is spoken of',
  withController(async (stage) => {
    await stage.budget({ minAvailable: 0 });
    await stage.budget({ minAvailable: 0 }, { name: 'bar' });
    await stage.settle();
    await stage.pod('p');
    await stage.settle();
    expect((await stage.events('MultiplePodDisruptionBudgets'))[0]).toMatchObject({ involvedObject: { name: 'p' } });
  }),
);

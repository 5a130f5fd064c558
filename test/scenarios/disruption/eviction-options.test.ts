import { expect, test } from 'vitest';
import { podDisruptionBudgetType } from '../../../src/api/resource-types.ts';
import { formatTime } from '../../../src/machinery/values/index.ts';
import { onPlane, withController, target } from './support.ts';

const refusals = [
  {
    id: 'T58',
    numbers: [0, 0, 0, 0],
    condition: { reason: 'SyncFailed', message: 'x' },
    want: 'does not allow evicting pods currently because it failed sync: x',
  },
  {
    id: 'T59',
    numbers: [0, 4, 3, 4],
    condition: { reason: 'R', message: 'x' },
    want: 'does not allow evicting pods currently (R): x',
  },
] as const;

for (const { condition, id, numbers, want } of refusals) {
  test(
    `${id} the refusal says why: ${want}`,
    onPlane(async (stage) => {
      await stage.pod('p');
      await stage.budget({ minAvailable: 0 });
      const conditions = [
        { type: 'DisruptionAllowed', status: 'False', lastTransitionTime: formatTime(stage.now), ...condition },
      ];
      await stage.publish(numbers, { conditions });
      expect((await stage.evict('p')).cause).toBe(`The disruption budget foo ${want}`);
    }),
  );
}

for (const [name, body, query] of [
  ['query', {}, '?dryRun=All'],
  ['body', { deleteOptions: { dryRun: ['All'] } }, ''],
  ['both', { deleteOptions: { dryRun: ['All'] } }, '?dryRun=All'],
] as const) {
  test(
    `T60 T61 B-23 a dry run in the ${name} decides and leaves everything as it was`,
    onPlane(async (stage) => {
      const pod = await stage.pod('p');
      await stage.budget({ minAvailable: 0 });
      const before = await stage.publish([1, 1, 0, 1]);
      expect((await stage.evict('p', body, query)).code).toBe(201);
      expect((await stage.getBudget()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
      expect((await stage.getPod('p')).metadata.resourceVersion).toBe(pod.metadata.resourceVersion);
      await stage.publish([0, 1, 1, 1]);
      expect((await stage.evict('p', body, query)).code).toBe(429);
    }),
  );
}

test(
  'T60 dry run accepts only All',
  onPlane(async (stage) => {
    await stage.pod('p');
    expect((await stage.evict('p', {}, '?dryRun=Some')).code).toBe(422);
    expect((await stage.evict('p', { deleteOptions: { dryRun: ['Some'] } })).code).toBe(422);
  }),
);

test(
  'T62 the option that may break the cluster is refused',
  onPlane(async (stage) => {
    await stage.pod('p');
    const { code, status } = await stage.evict('p', {
      deleteOptions: { ignoreStoreReadErrorWithClusterBreakingPotential: true },
    });
    expect([code, status.details?.causes?.[0]?.field]).toEqual([
      422,
      'deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential',
    ]);
  }),
);

test(
  'T63 a wrong UID is refused after the approval, which stays recorded',
  onPlane(async (stage) => {
    await stage.pod('p');
    await stage.budget({ minAvailable: 0 });
    await stage.publish([1, 1, 0, 1]);
    const { code, status } = await stage.evict('p', { deleteOptions: { preconditions: { uid: 'other' } } });
    expect([code, status.reason]).toEqual([409, 'Conflict']);
    expect(status.message).toContain('The object might have been deleted and then recreated');
    expect((await stage.getBudget()).status).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { p: expect.any(String) },
    });
    expect((await stage.getPod('p')).metadata.deletionTimestamp).toBeUndefined();
  }),
);

test(
  'T64 a resourceVersion precondition holds or is refused',
  onPlane(async (stage) => {
    const { metadata } = await stage.pod('p');
    const at = (resourceVersion: string | undefined) => ({ deleteOptions: { preconditions: { resourceVersion } } });
    expect((await stage.evict('p', at('1'))).code).toBe(409);
    expect((await stage.evict('p', at(metadata.resourceVersion))).code).toBe(201);
  }),
);

for (const phase of ['Running', 'Succeeded']) {
  test(
    `T65 a ${phase} pod with a finalizer stays, marked`,
    onPlane(async (stage) => {
      await stage.pod('p', { phase, finalizers: ['example.com/hold'] });
      expect((await stage.evict('p')).code).toBe(201);
      const pod = await stage.getPod('p');
      expect(pod.metadata.deletionTimestamp).toBeDefined();
      expect(pod.status?.conditions).toContainEqual(expect.objectContaining(target));
    }),
  );
}

test(
  'T66 both versions and none are understood, others and other methods are not',
  onPlane(async (stage) => {
    for (const [at, apiVersion] of ['policy/v1', 'policy/v1beta1', undefined].entries()) {
      await stage.pod(`p${at}`);
      const kind = apiVersion === undefined ? undefined : 'Eviction';
      expect((await stage.evict(`p${at}`, { apiVersion, kind })).code).toBe(201);
    }
    await stage.pod('p');
    const unknown = await stage.evict('p', { apiVersion: 'policy/v2' });
    expect(unknown.code).toBe(400);
    expect(unknown.status.message).toContain('policy/v2');
    const foreign = await stage.evict('p', { apiVersion: 'apps/v1', kind: 'Deployment' });
    expect(foreign.code).toBe(400);
    expect(foreign.status.message).toMatch(/^Deployment in version "v1" cannot be handled as a Eviction/);
    expect((await stage.evict('p', { kind: 'Pod' })).code).toBe(400);
    const path = '/api/v1/namespaces/default/pods/p/eviction';
    expect((await stage.post(path, '{', 'POST')).code).toBe(400);
    for (const method of ['GET', 'PATCH', 'PUT', 'DELETE']) {
      expect((await stage.post(path, method === 'GET' ? '' : '{}', method)).code).toBe(405);
    }
  }),
);

test(
  'T67 ten evictions at once that the budget allows all succeed',
  withController(async (stage) => {
    await stage.budget({ minAvailable: 0 });
    for (let at = 0; at < 10; at += 1) await stage.pod(`p${at}`);
    await stage.settle();
    const answers = await Promise.all(Array.from({ length: 10 }, (_, at) => stage.evict(`p${at}`)));
    expect(answers.map(({ code }) => code)).toEqual(Array.from({ length: 10 }, () => 201));
  }),
);

test(
  'T68 a budget follows its spec: blocked, loosened, tightened, deleted',
  withController(async (stage) => {
    for (const name of ['p', 'q', 'r']) await stage.pod(name);
    await stage.budget({ minAvailable: 3 });
    await stage.settle();
    expect((await stage.evict('p')).code).toBe(429);
    const change = async (spec: Record<string, unknown>): Promise<void> => {
      const { client } = stage.plane;
      await client.patch(
        podDisruptionBudgetType,
        { namespace: 'default', name: 'foo' },
        { type: 'merge', body: { spec } },
      );
      await stage.settle();
    };
    await change({ minAvailable: 2 });
    expect((await stage.evict('p')).code).toBe(201);
    await change({ minAvailable: null, maxUnavailable: 0 });
    expect((await stage.evict('q')).code).toBe(429);
    await stage.plane.client.delete(podDisruptionBudgetType, { namespace: 'default', name: 'foo' });
    expect((await stage.evict('q')).code).toBe(201);
  }),
);

test(
  'evicting what does not exist answers 404',
  onPlane(async (stage) => {
    const { code, status } = await stage.evict('p');
    expect([code, status.reason, status.details?.kind]).toEqual([404, 'NotFound', 'pods']);
  }),
);

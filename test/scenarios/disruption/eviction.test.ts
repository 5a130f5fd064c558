import { expect, test } from 'vitest';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { formatTime } from '../../../src/machinery/values/index.ts';
import { onPlane, withController } from './support.ts';

const REFUSED = "Cannot evict pod as it would violate the pod's disruption budget.";
const target = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
};

test(
  'T40 the last slot is taken: allowance, condition, ledger and pod say so',
  onPlane(async (stage) => {
    await stage.pod('p');
    await stage.budget({ minAvailable: 0 });
    await stage.publish([1, 1, 0, 1]);
    const { code, status } = await stage.evict('p');
    expect(code).toBe(201);
    expect(status).toEqual({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
    const budget = await stage.getBudget();
    expect(budget.status).toMatchObject({ disruptionsAllowed: 0, disruptedPods: { p: formatTime(stage.now) } });
    expect(await stage.condition()).toMatchObject({ status: 'False', reason: 'InsufficientPods' });
    const pod = await stage.getPod('p');
    expect(pod.metadata.deletionTimestamp).toBeDefined();
    expect(pod.status?.conditions).toContainEqual(expect.objectContaining(target));
  }),
);

test(
  'T41 one of three slots is taken, the condition stays',
  onPlane(async (stage) => {
    await stage.pod('p');
    await stage.budget({ minAvailable: 0 });
    const conditions = [
      {
        type: 'DisruptionAllowed',
        status: 'True',
        reason: 'SufficientPods',
        message: '',
        lastTransitionTime: formatTime(stage.now),
      },
    ];
    await stage.publish([3, 3, 0, 3], { conditions });
    expect((await stage.evict('p')).code).toBe(201);
    expect(await stage.numbers()).toEqual([2, 3, 0, 3]);
    expect(await stage.condition()).toMatchObject({ reason: 'SufficientPods' });
  }),
);

test(
  'T42 T43 an unready pod where nothing is healthy stays, unless such pods may always go',
  onPlane(async (stage) => {
    await stage.pod('p', { ready: false });
    await stage.budget({ minAvailable: 0 });
    await stage.publish([0, 0, 0, 1]);
    const refused = await stage.evict('p');
    expect([refused.code, refused.retryAfter]).toEqual([429, undefined]);
    expect(refused.cause).toBe('The disruption budget foo needs 0 healthy pods and has 0 currently');
    const budget = await stage.getBudget();
    const always = await stage.plane.client.update(podDisruptionBudgetType, {
      ...budget,
      spec: { ...budget.spec, unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    });
    expect((await stage.evict('p')).code).toBe(201);
    expect((await stage.getBudget()).metadata.resourceVersion).toBe(always.metadata.resourceVersion);
  }),
);

for (const phase of ['Pending', 'Succeeded', 'Failed']) {
  test(
    `T44 a ${phase} pod goes without asking the budget`,
    onPlane(async (stage) => {
      await stage.pod('p', { phase, ready: false });
      await stage.budget({ minAvailable: 1 });
      const before = await stage.publish([0, 0, 1, 1]);
      expect((await stage.evict('p')).code).toBe(201);
      expect((await stage.getBudget()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    }),
  );
}

test(
  'T44 a terminating pod goes without asking the budget and is marked',
  onPlane(async (stage) => {
    await stage.pod('p');
    await stage.plane.client.delete(podType, { namespace: 'default', name: 'p' });
    await stage.budget({ minAvailable: 1 });
    const before = await stage.publish([0, 0, 1, 1]);
    expect((await stage.evict('p')).code).toBe(201);
    expect((await stage.getBudget()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect((await stage.getPod('p')).status?.conditions).toContainEqual(expect.objectContaining(target));
  }),
);

test(
  'T45 a pod that no budget selects goes',
  onPlane(async (stage) => {
    await stage.pod('p');
    await stage.pod('q', { labels: { app: 'b' } });
    expect((await stage.evict('p')).code).toBe(201);
    await stage.budget({ minAvailable: 1 });
    expect((await stage.evict('q')).code).toBe(201);
  }),
);

test(
  'T46 the name in the path must be that of the body',
  onPlane(async (stage) => {
    await stage.pod('p');
    for (const metadata of [{ name: 'q' }, {}]) {
      const { code, status } = await stage.evict('p', { metadata });
      expect([code, status.message]).toEqual([400, 'name in URL does not match name in Eviction object']);
    }
    const elsewhere = await stage.evict('p', { metadata: { name: 'p', namespace: 'other' } });
    expect(elsewhere.code).toBe(400);
  }),
);

test(
  'T47 a pod of two budgets stays whatever each allows',
  onPlane(async (stage) => {
    await stage.pod('p');
    for (const name of ['foo', 'bar']) {
      await stage.budget({ minAvailable: 0 }, { name });
      await stage.publish([5, 5, 0, 5], { name });
    }
    const { code, status } = await stage.evict('p');
    expect([code, status.reason]).toEqual([500, undefined]);
    expect(status.message).toBe(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
    expect((await stage.getPod('p')).metadata.deletionTimestamp).toBeUndefined();
  }),
);

test(
  'T48 an exhausted budget answers 429 without Retry-After and explains itself',
  onPlane(async (stage) => {
    await stage.pod('p');
    await stage.pod('q');
    await stage.pod('r', { ready: false });
    await stage.budget({ minAvailable: 2 });
    await stage.publish([0, 2, 2, 3]);
    const { cause, code, retryAfter, status } = await stage.evict('p');
    expect([code, status.reason, status.message, retryAfter]).toEqual([429, 'TooManyRequests', REFUSED, undefined]);
    expect(cause).toBe('The disruption budget foo needs 2 healthy pods and has 2 currently');
    expect(status.details?.causes?.[0]?.reason).toBe('DisruptionBudget');
    expect(status.details?.causes?.slice(1)).toEqual([
      {
        reason: 'QuorateBudget',
        message: 'Budget foo (minAvailable 2) counts pods: 2 of 3 expected healthy, 2 needed, 0 may be disrupted.',
      },
      { reason: 'QuorateShortPod', message: 'Pod r is not Ready for 0s' },
      { reason: 'QuorateUnblock', message: 'wait until pod r becomes Ready again' },
      { reason: 'QuorateUnblock', message: 'set minAvailable of foo to 1 (pods)' },
    ]);
  }),
);

test(
  'T49 an unready pod goes free while the budget is met',
  onPlane(async (stage) => {
    await stage.pod('p', { ready: false });
    await stage.budget({ minAvailable: 2 });
    const before = await stage.publish([0, 2, 2, 3]);
    expect((await stage.evict('p')).code).toBe(201);
    expect((await stage.getBudget()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  }),
);

// T50 to T54 tell of a deletion that fails, or a pod that changes, between judgement and deletion. Here both are one
// transaction: the change is either seen by the judgement or comes after the deletion. Where they are not, on a cluster,
// src/webhook/eviction-conflicts.test.ts has these cases.
test(
  'T51 what the deletion itself objects to reaches the caller, and nothing has happened',
  onPlane(async (stage) => {
    await stage.pod('p', { ready: false });
    await stage.budget({ minAvailable: 2 });
    const before = await stage.publish([0, 2, 2, 3]);
    const deleteOptions = { propagationPolicy: 'Background', orphanDependents: true };
    const { code, status } = await stage.evict('p', { deleteOptions });
    expect([code, status.reason]).toEqual([422, 'Invalid']);
    expect((await stage.getPod('p')).metadata.deletionTimestamp).toBeUndefined();
    expect((await stage.getBudget()).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  }),
);

test(
  'T50 T52 T53 a pod that changes while it is being evicted is judged by its newest state',
  onPlane(async (stage) => {
    await stage.pod('p', { phase: 'Pending', ready: false });
    await stage.budget({ minAvailable: 1 });
    await stage.publish([0, 1, 1, 1]);
    const pod = await stage.getPod('p');
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: formatTime(stage.now) }];
    const running = stage.plane.client.updateStatus(podType, {
      ...pod,
      status: { ...pod.status, phase: 'Running', conditions },
    });
    const evicted = stage.evict('p');
    await running;
    expect((await evicted).code).toBe(429);
    await stage.publish([1, 2, 1, 2]);
    await stage.pod('q');
    expect((await stage.evict('p')).code).toBe(201);
  }),
);

test(
  'T54 a stale resourceVersion precondition on a Pending pod is refused at once',
  onPlane(async (stage) => {
    await stage.pod('p', { phase: 'Pending', ready: false });
    const { code, status } = await stage.evict('p', { deleteOptions: { preconditions: { resourceVersion: '1' } } });
    expect([code, status.reason]).toEqual([409, 'Conflict']);
    expect(status.message).toContain('Operation cannot be fulfilled on Pod "p"');
    expect(status.message).toContain('The object might have been modified');
  }),
);

test(
  'T55 T56 slots of an older spec do not count, except for pods that may always go',
  onPlane(async (stage) => {
    await stage.pod('p');
    await stage.pod('q', { ready: false });
    await stage.budget({ minAvailable: 0, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
    const published = await stage.publish([5, 5, 0, 5]);
    await stage.plane.client.update(podDisruptionBudgetType, {
      ...published,
      spec: { ...published.spec, minAvailable: 1 },
    });
    const refused = await stage.evict('p');
    expect([refused.code, refused.retryAfter]).toEqual([429, '10']);
    expect(refused.cause).toBe('The disruption budget foo is still being processed by the server.');
    expect(refused.status.details?.retryAfterSeconds).toBe(10);
    expect((await stage.evict('q')).code).toBe(201);
  }),
);

test(
  'T57 2000 unconfirmed evictions are fine, one more is too many',
  onPlane(async (stage) => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`x${at}`, formatTime(stage.now)]));
    await stage.pod('p');
    await stage.pod('q');
    await stage.budget({ minAvailable: 0 });
    await stage.publish([1, 1, 0, 1], { disruptedPods: many(2001) });
    const refused = await stage.evict('p');
    expect([refused.code, refused.status.reason]).toEqual([403, 'Forbidden']);
    expect(refused.status.message).toBe(
      'poddisruptionbudget.policy "foo" is forbidden: DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    );
    await stage.publish([1, 1, 0, 1], { disruptedPods: many(2000) });
    expect((await stage.evict('p')).code).toBe(201);
  }),
);

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
    expect([foreign.code, foreign.status.message]).toEqual([
      400,
      'the API version in the data (apps/v1) does not match the expected API version (policy/v1)',
    ]);
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

import { expect, test } from 'vitest';
import type { OwnerReference } from '../../../src/api/generated/meta-v1.ts';
import type { PodDisruptionBudget } from '../../../src/api/generated/policy-v1.ts';
import { RESERVED_KEY } from '../../../src/api/policy/index.ts';
import { builtinType } from '../../../src/api/registry.ts';
import type { KubeObject } from '../../../src/api/resource.ts';
import { podDisruptionBudgetType } from '../../../src/api/resource-types.ts';
import { FeatureGates } from '../../../src/machinery/runtime/index.ts';
import { onPlane, type Stage, withController } from './support.ts';

const PATH = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
const body = (spec: unknown, more: object = {}) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'foo' },
  spec,
  ...more,
});

for (const minAvailable of ['0%', '1%', '100%', 0, 1, 100]) {
  test(
    `T1 minAvailable ${minAvailable} is accepted`,
    onPlane(async (stage) => expect((await stage.post(PATH, body({ minAvailable }))).code).toBe(201)),
  );
}

const bad: [string, unknown, string][] = [
  ['T2', { minAvailable: '1.1%' }, 'spec.minAvailable'],
  ['T2', { minAvailable: 'nope' }, 'spec.minAvailable'],
  ['T2', { minAvailable: '-1%' }, 'spec.minAvailable'],
  ['T2', { minAvailable: '101%' }, 'spec.minAvailable'],
  ['T2', { minAvailable: -1 }, 'spec.minAvailable'],
  ['T3', { minAvailable: 1, maxUnavailable: 1 }, 'spec'],
  ['T5', { unhealthyPodEvictionPolicy: '' }, 'spec.unhealthyPodEvictionPolicy'],
  ['T5', { unhealthyPodEvictionPolicy: 'Invalid' }, 'spec.unhealthyPodEvictionPolicy'],
];

for (const [id, spec, field] of bad) {
  test(
    `${id} ${JSON.stringify(spec)} is refused at ${field}`,
    onPlane(async (stage) => {
      const { code, status } = await stage.post(PATH, body(spec));
      expect([code, status.reason, status.details?.causes?.map((cause) => cause.field)]).toEqual([
        422,
        'Invalid',
        [field],
      ]);
    }),
  );
}

test(
  'a number that is not whole fails decoding',
  onPlane(async (stage) => expect((await stage.post(PATH, body({ minAvailable: 1.5 }))).code).toBe(400)),
);

test(
  'T6 a status sent at creation is dropped, the counters start at zero',
  onPlane(async (stage) => {
    await stage.post(PATH, body({ minAvailable: 1 }, { status: { disruptionsAllowed: 5, observedGeneration: 3 } }));
    const { metadata, status } = await stage.getBudget();
    expect(metadata.generation).toBe(1);
    expect(status).toEqual({ disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 });
  }),
);

test(
  'T7 the generation counts changes of the spec only, the status stays',
  onPlane(async (stage) => {
    await stage.budget({ minAvailable: 1 });
    await stage.publish([1, 2, 1, 2]);
    const change = (merge: object) =>
      stage.plane.client.patch(
        podDisruptionBudgetType,
        { namespace: 'default', name: 'foo' },
        { type: 'merge', body: merge },
      );
    expect((await change({ spec: { minAvailable: 2 } })).metadata.generation).toBe(2);
    const labelled = await change({ metadata: { labels: { a: 'b' } } });
    expect(labelled.metadata.generation).toBe(2);
    expect(labelled.status?.currentHealthy).toBe(2);
    expect((await change({ spec: { selector: {} } })).metadata.generation).toBe(2);
    const everything = await change({ spec: { selector: { matchLabels: null } } });
    expect([everything.metadata.generation, everything.spec?.selector]).toEqual([3, {}]);
    const none = await change({ spec: { selector: null } });
    expect([none.metadata.generation, none.spec?.selector]).toEqual([4, undefined]);
  }),
);

test(
  'T8 a PUT without resourceVersion, or with an old one, is refused',
  onPlane(async (stage) => {
    const created = await stage.budget({ minAvailable: 1 });
    const { resourceVersion: _version, ...metadata } = created.metadata;
    const missing = await stage.post(`${PATH}/foo`, { ...created, metadata }, 'PUT');
    expect([missing.code, missing.status.details?.causes?.[0]?.field]).toEqual([422, 'metadata.resourceVersion']);
    await stage.publish([1, 1, 1, 1]);
    expect((await stage.post(`${PATH}/foo`, created, 'PUT')).code).toBe(409);
  }),
);

for (const field of ['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods']) {
  test(
    `T9 a negative ${field} is refused`,
    onPlane(async (stage) => {
      const budget = await stage.budget({ minAvailable: 1 });
      const { code, status } = await stage.post(
        `${PATH}/foo/status`,
        { ...budget, status: { ...budget.status, [field]: -1 } },
        'PUT',
      );
      expect([code, status.details?.causes?.[0]?.field]).toEqual([422, `status.${field}`]);
    }),
  );
}

test(
  'T10 conditions without a reason are refused',
  onPlane(async (stage) => {
    const budget = await stage.budget({ minAvailable: 1 });
    const conditions = [{ type: 'A', status: 'True', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' }];
    const { code, status } = await stage.post(
      `${PATH}/foo/status`,
      { ...budget, status: { ...budget.status, conditions } },
      'PUT',
    );
    expect([code, status.details?.causes?.[0]?.field]).toEqual([422, 'status.conditions[0].reason']);
  }),
);

const selector = { matchLabels: { a: '1' }, matchExpressions: [{ key: 'x', operator: 'Exists' }] };
const next = { matchLabels: { b: '2' } };

const patches = [
  { type: 'strategic', want: next },
  { type: 'merge', want: { matchLabels: { a: '1', b: '2' }, matchExpressions: selector.matchExpressions } },
] as const;

for (const { type, want } of patches) {
  test(
    `T15 a ${type} patch of the selector`,
    onPlane(async (stage) => {
      await stage.budget({ selector, minAvailable: 1 });
      const key = { namespace: 'default', name: 'foo' };
      const patched = await stage.plane.client.patch(podDisruptionBudgetType, key, {
        type,
        body: { spec: { selector: next } },
      });
      expect(patched.spec?.selector).toEqual(want);
    }),
  );
}

test(
  'T15 server-side apply replaces the whole selector',
  onPlane(async (stage) => {
    const { client } = stage.plane;
    const apply = (spec: object): Promise<PodDisruptionBudget> =>
      client.patch(
        podDisruptionBudgetType,
        { namespace: 'default', name: 'foo' },
        {
          type: 'apply',
          body: { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'foo' }, spec },
        },
        { fieldManager: 'test', force: true },
      );
    await apply({ selector, minAvailable: 1 });
    expect((await apply({ selector: next, minAvailable: 1 })).spec?.selector).toEqual(next);
  }),
);

async function customScale(stage: Stage, replicas: number): Promise<OwnerReference> {
  const { client } = stage.plane;
  await client.create(builtinType('CustomResourceDefinition', 'apiextensions.k8s.io'), {
    metadata: { name: 'fleets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'fleets', singular: 'fleet', kind: 'Fleet', listKind: 'FleetList' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          subresources: { scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' } },
        },
      ],
    },
  } as KubeObject);
  await stage.settle();
  const fleet = await client.create(
    { group: 'example.com', version: 'v1', kind: 'Fleet', plural: 'fleets', namespaced: true },
    { metadata: { name: 'f', namespace: 'default' }, spec: { replicas } } as KubeObject,
  );
  return { apiVersion: 'example.com/v1', kind: 'Fleet', name: 'f', uid: fleet.metadata.uid ?? '', controller: true };
}

test(
  'T22 a custom resource with a scale says how many pods there should be',
  withController(async (stage) => {
    const owner = await customScale(stage, 10);
    for (const name of ['p', 'q', 'r', 's']) await stage.pod(name, { owner });
    await stage.budget({ maxUnavailable: 5 });
    await stage.settle();
    expect(await stage.numbers()).toEqual([0, 4, 5, 10]);
  }),
);

const OLD_PATH = '/apis/policy/v1beta1/namespaces/default/poddisruptionbudgets';
const withV1beta1 = { gates: new FeatureGates({ PolicyV1beta1: true }) };
const old = (spec: unknown, more: object = {}) => ({ ...body(spec, more), apiVersion: 'policy/v1beta1' });

test(
  'policy/v1beta1 is not served unless asked for',
  onPlane(async (stage) => expect((await stage.post(OLD_PATH, old({ minAvailable: 1 }))).code).toBe(404)),
);

test(
  'T12 an empty selector means nothing in v1beta1 and everything in v1, whichever version reads it',
  onPlane(async (stage) => {
    const { plane } = stage;
    const oldType = { ...podDisruptionBudgetType, version: 'v1beta1' };
    const key = { namespace: 'default', name: 'foo' };
    expect((await stage.post(OLD_PATH, old({ minAvailable: 1, selector: {} }))).code).toBe(201);
    expect((await plane.client.get(oldType, key)).spec?.selector).toEqual({});
    expect((await stage.getBudget()).spec?.selector).toEqual({
      matchExpressions: [{ key: RESERVED_KEY, operator: 'Exists' }],
    });
    expect(
      (await stage.post(`${PATH}/foo`, { ...(await stage.getBudget()), spec: { selector: {} } }, 'PUT')).code,
    ).toBe(200);
    expect((await plane.client.get(oldType, key)).spec?.selector).toEqual({
      matchExpressions: [{ key: RESERVED_KEY, operator: 'DoesNotExist' }],
    });
  }, withV1beta1),
);

test(
  'T9 v1beta1 takes a negative counter',
  onPlane(async (stage) => {
    const budget = await stage.budget({ minAvailable: 1 });
    const sent = { ...budget, apiVersion: 'policy/v1beta1', status: { ...budget.status, currentHealthy: -1 } };
    expect((await stage.post(`${OLD_PATH}/foo/status`, sent, 'PUT')).code).toBe(200);
  }, withV1beta1),
);

/**
 * Every host feeds every kind: whoever keeps an index of what budgets decide on learns of every kind in the tables, and
 * of its going. A new row asks for an example here by its type; the hosts then all have to know it.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject, ResourceType } from '../../../src/api/resource.ts';
import { namespaceType } from '../../../src/api/resource-types.ts';
import { createDisruptionView } from '../../../src/apiserver/index.ts';
import { UnavailabilityView } from '../../../src/apiserver/unavailability/view.ts';
import { gatherBudgets, gatherClusterObjects } from '../../../src/tasks/index.ts';
import { Observer } from '../../../src/tasks/simulate/observer.ts';
import { createDisruptionController } from '../../../src/controllers/quorate/disruption/index.ts';
import { createPodUnavailableBudgetController } from '../../../src/controllers/quorate/pod-unavailable-budget/index.ts';
import { DisruptionIndex, FED_KINDS } from '../../../src/decisions/disruption/index.ts';
import { gatherLintFacts } from '../../../src/decisions/lint/facts.ts';
import {
  UNAVAILABILITY_KINDS,
  UnavailabilityFeed,
  unavailabilityGates,
} from '../../../src/decisions/unavailability/index.ts';
import { type Controller, defineController, FeatureGates, isNotFound } from '../../../src/machinery/runtime/index.ts';
import { PreemptionBudgets } from '../../../src/scheduler/budgets.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';
import { groupExamples, guardExamples } from './fed-examples.ts';

interface Host {
  readonly controllers?: readonly Controller[];
  readonly extend?: (context: Parameters<typeof createDisruptionView>[0]) => void;
  /** The counts this host would decide on now. */
  readonly index: (plane: ControlPlane) => Promise<DisruptionIndex> | DisruptionIndex;
  /** The PodUnavailableBudgets this host would ask about the pod of a namespace. */
  readonly guardsOf: (plane: ControlPlane, namespace: string) => Promise<readonly string[]> | readonly string[];
}

const namesOf = (entries: readonly { budget: KubeObject }[]): string[] =>
  entries.map(({ budget }) => budget.metadata.name ?? '');
const guardsIn = (feed: UnavailabilityFeed, namespace: string): string[] =>
  namesOf(feed.indexes.of(namespace).covering('p'));

const HOSTS: Readonly<Record<string, () => Host>> = {
  'the API server': () => {
    let index = new DisruptionIndex();
    let view: UnavailabilityView | undefined;
    return {
      extend: (context) => {
        index = createDisruptionView(context);
        view = new UnavailabilityView(context);
      },
      index: () => index,
      guardsOf: (_, namespace) => namesOf(view?.of(namespace).covering('p') ?? []),
    };
  },
  'the controllers and the operator': () => {
    const index = new DisruptionIndex();
    const feed = new UnavailabilityFeed();
    return {
      controllers: [createDisruptionController({ index }), createPodUnavailableBudgetController({ feed })],
      index: () => index,
      guardsOf: (_, namespace) => guardsIn(feed, namespace),
    };
  },
  'the scheduler': () => {
    let budgets: PreemptionBudgets | undefined;
    return {
      controllers: [
        defineController({
          name: 'budgets',
          deps(context) {
            budgets = new PreemptionBudgets(context, unavailabilityGates(new FeatureGates()));
            void budgets.follow();
          },
        }),
      ],
      index: () => budgets?.index ?? new DisruptionIndex(),
      guardsOf: (_, namespace) => guardsIn(budgets?.unavailability ?? new UnavailabilityFeed(), namespace),
    };
  },
  simulate: () => {
    const observer = new Observer();
    return {
      controllers: [observer],
      index: () => observer.index,
      guardsOf: (_, namespace) => guardsIn(observer.unavailability, namespace),
    };
  },
  'why, plan and drain': () => ({
    index: async ({ client }) => (await gatherBudgets(client, { now: 0 })).index,
    guardsOf: async ({ client }, namespace) =>
      guardsIn((await gatherBudgets(client, { now: 0 })).unavailability, namespace),
  }),
  lint: () => {
    const facts = async ({ client }: ControlPlane) =>
      gatherLintFacts({ objects: await gatherClusterObjects(client, undefined), source: 'Cluster' });
    return {
      index: async (plane) => (await facts(plane)).index,
      guardsOf: async (plane, namespace) => {
        const { covering, pods } = await facts(plane);
        const pod = pods.find((one) => one.facts.namespace === namespace);
        return pod === undefined ? [] : covering(pod).pubs.map(({ object }) => object.metadata.name ?? '');
      },
    };
  },
};

describe.each(Object.entries(HOSTS))('18.7: %s', (_, create) => {
  const host = create();
  let plane: ControlPlane;
  beforeAll(async () => {
    const { controllers, extend } = host;
    plane = await startControlPlane({ ...(controllers && { controllers }), ...(extend && { extend }) });
  });
  afterAll(() => plane.stop());

  async function put({ object, type }: { object: KubeObject; type: ResourceType }, namespace: string) {
    const made = await plane.client.create(type, { ...object, metadata: { ...object.metadata, namespace } });
    await plane.settle();
    return made;
  }
  async function remove(type: ResourceType, { metadata }: KubeObject): Promise<void> {
    const key = { namespace: metadata.namespace, name: metadata.name ?? '' };
    await plane.client.delete(type, key, { gracePeriodSeconds: 0, propagationPolicy: 'Background' });
    // Nobody is here who would see that a group is no longer in use.
    const body = { metadata: { finalizers: null } };
    await plane.client.patch(type, key, { type: 'merge', body }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    await plane.settle();
  }
  const enter = async (name: string): Promise<string> => {
    await plane.client.create(namespaceType, { metadata: { name } });
    return name;
  };

  it.each([...new Set(FED_KINDS.map(({ kind }) => kind))])('is fed %s', async (kind) => {
    const namespace = await enter(kind.toLowerCase());
    const example = groupExamples[kind as keyof typeof groupExamples];
    const { before, others, read, type, value } = example;
    for (const one of others) await put(one, namespace);
    const asked = async (): Promise<unknown> => read(await host.index(plane), namespace);
    expect(await asked()).toBe(before);
    const made = await put(example, namespace);
    expect(await asked()).toBe(value);
    await remove(type, made);
    expect(await asked()).toBe(before);
  });

  it.each(UNAVAILABILITY_KINDS.map(({ kind }) => kind))('is fed %s for PodUnavailableBudgets', async (kind) => {
    const namespace = await enter(`guarded-${kind.toLowerCase()}`);
    const example = guardExamples[kind as keyof typeof guardExamples];
    for (const one of example.others) await put(one, namespace);
    expect(await host.guardsOf(plane, namespace)).toEqual([]);
    const made = await put(example, namespace);
    if ('podOf' in example) await put(example.podOf(made.metadata.uid ?? ''), namespace);
    expect(await host.guardsOf(plane, namespace)).toEqual(['guard']);
    if ('podOf' in example) return;
    await remove(example.type, made);
    expect(await host.guardsOf(plane, namespace)).toEqual([]);
  });
});

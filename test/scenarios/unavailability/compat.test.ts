/** Where `--compat kruise` answers as OpenKruise does: every quirk, beside what is done without it. */
import { afterEach, expect, test } from 'vitest';
import {
  POD_UNAVAILABLE_BUDGETS,
  type PodUnavailableBudgetSpec,
  type PodUnavailableBudgetStatus,
  RELATED_PUB_ANNOTATION,
} from '../../../src/api/kruise/types.ts';
import { leaderWorkerSetType, LWS } from '../../../src/api/lws/types.ts';
import { eventType, podType } from '../../../src/api/resource-types.ts';
import { createPodUnavailableBudgetController } from '../../../src/controllers/quorate/pod-unavailable-budget/index.ts';
import { type ApiError, FeatureGates } from '../../../src/machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';
import { codeOf, evict as askEviction } from '../../shared/answers.ts';

const namespace = 'default';
const key = (name: string) => ({ namespace, name });
let plane: ControlPlane;
afterEach(() => plane.stop());

interface World {
  readonly compat: boolean;
  /** Runs the controller; without it a status stays as a test writes it. */
  readonly controlled?: boolean;
}

async function start({ compat, controlled = false }: World): Promise<void> {
  plane = await startControlPlane({
    controllers: controlled ? [createPodUnavailableBudgetController({ compat })] : [],
    gates: new FeatureGates({ PodUnavailableBudgetUpdateGate: true }),
    ...(compat && { compat: 'kruise' }),
  });
}

async function addPod(name: string, annotations: Record<string, string> = {}, labels: Record<string, string> = {}) {
  const made = await plane.client.create(podType, {
    metadata: { name, namespace, annotations, labels: { app: 'llm', ...labels } },
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'app:1', resources: { requests: { cpu: '1' } } }] },
  });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  await plane.client.updateStatus(podType, { ...made, status });
}

const named = (budget = 'pub'): Record<string, string> => ({ [RELATED_PUB_ANNOTATION]: budget });

interface BudgetOptions {
  readonly name?: string;
  readonly annotations?: Record<string, string>;
  readonly status?: PodUnavailableBudgetStatus;
}

async function addBudget(spec: PodUnavailableBudgetSpec = {}, options: BudgetOptions = {}): Promise<void> {
  const { annotations = {}, name = 'pub', status } = options;
  const made = await plane.client.create(POD_UNAVAILABLE_BUDGETS, {
    metadata: { name, namespace, annotations },
    spec: {
      maxUnavailable: 1,
      ...(spec.targetRef === undefined && { selector: { matchLabels: { app: 'llm' } } }),
      ...spec,
    },
  });
  if (status !== undefined) {
    await plane.client.updateStatus(POD_UNAVAILABLE_BUDGETS, { ...made, status: { observedGeneration: 1, ...status } });
  }
  await plane.settle();
}

const full = { unavailableAllowed: 0, desiredAvailable: 1, currentAvailable: 1, totalReplicas: 1 };
const roomy = { unavailableAllowed: 1, desiredAvailable: 1, currentAvailable: 2, totalReplicas: 2 };

const evict = (name: string, more: object = {}) => askEviction(plane.client, namespace, name, more);
const budget = async (name = 'pub') => plane.client.get(POD_UNAVAILABLE_BUDGETS, key(name));

/** Runs the same story with and without the quirks; `want` is what each of them answers, the quirk last. */
function quirk<T>(name: string, want: readonly [safe: T, kruise: T], story: (compat: boolean) => Promise<T>): void {
  for (const compat of [false, true]) {
    test(`${name}${compat ? ', with --compat kruise' : ''}`, async () => {
      expect(await story(compat)).toEqual(want[compat ? 1 : 0]);
    });
  }
}

quirk('W2 an eviction that a budget refuses', [429, 403], async (compat) => {
  await start({ compat });
  await addPod('a', named());
  await addBudget({}, { status: full });
  return codeOf(evict('a'));
});

quirk(
  'W22 numbers older than the spec',
  [
    { code: 429, retryAfterSeconds: 10 },
    { code: 201, retryAfterSeconds: undefined },
  ],
  async (compat) => {
    await start({ compat });
    await addPod('a', named());
    await addBudget({}, { status: roomy });
    const stored = await budget();
    await plane.client.update(POD_UNAVAILABLE_BUDGETS, { ...stored, spec: { ...stored.spec, maxUnavailable: 0 } });
    expect((await budget()).metadata.generation).toBe(2);
    return evict('a').then(
      () => ({ code: 201, retryAfterSeconds: undefined }),
      (error: unknown) => {
        const { code, status } = error as ApiError;
        return { code, retryAfterSeconds: status.details?.retryAfterSeconds };
      },
    );
  },
);

quirk('a budget nobody has counted yet', [429, 200], async (compat) => {
  await start({ compat });
  await addPod('a', named());
  await addBudget();
  return codeOf(evict('a'));
});

const resize = (name: string, subresource?: 'resize') =>
  plane.client.patch(
    podType,
    key(name),
    { type: 'strategic', body: { spec: { containers: [{ name: 'c', resources: { requests: { cpu: '2' } } }] } } },
    subresource === undefined ? {} : { subresource },
  );

quirk('a resize through its subresource while nothing may be disturbed', [403, 200], async (compat) => {
  await start({ compat });
  await addPod('a', named());
  await addBudget({ protectOperations: ['RESIZE'] }, { status: full });
  return codeOf(resize('a', 'resize'));
});

quirk('an update that takes away the annotation naming the budget', [403, 200], async (compat) => {
  await start({ compat });
  await addPod('a', named());
  await addBudget({}, { status: full });
  const body = {
    metadata: { annotations: { [RELATED_PUB_ANNOTATION]: null } },
    spec: { containers: [{ name: 'c', image: 'app:2' }] },
  };
  return codeOf(plane.client.patch(podType, key('a'), { type: 'strategic', body }));
});

quirk('W24 a pod whose annotation names a budget that is gone', [429, 200], async (compat) => {
  await start({ compat });
  await addPod('a', named('gone'));
  await addBudget({}, { status: full });
  return codeOf(evict('a'));
});

quirk('W23 two budgets over a pod of which the second has no room', [429, 200], async (compat) => {
  await start({ compat });
  await addPod('a', named('first'), { tier: 'db' });
  await addBudget({}, { name: 'first', status: roomy });
  await addBudget({ selector: { matchLabels: { tier: 'db' } } }, { name: 'second', status: full });
  return codeOf(evict('a'));
});

quirk('an annotation that names another budget than the one that covers the pod', ['pub', 'old'], async (compat) => {
  await start({ compat, controlled: true });
  await addPod('a', named('old'));
  await addBudget();
  return (await plane.client.get(podType, key('a'))).metadata.annotations?.[RELATED_PUB_ANNOTATION];
});

quirk('a refusal in a dry run leaves an event', [false, true], async (compat) => {
  await start({ compat });
  await addPod('a', named());
  await addBudget({}, { status: full });
  await codeOf(evict('a', { deleteOptions: { dryRun: ['All'] } }));
  await plane.settle();
  const { items } = await plane.client.list(eventType, { namespace });
  return items.some(({ reason }) => reason === 'PubPreventPodDeletion');
});

quirk('a v1alpha1 client that reads and writes back drops ignoredPodSelector', [false, true], async (compat) => {
  await start({ compat });
  await addBudget({ ignoredPodSelector: { matchLabels: { c: 'd' } } });
  const alpha = { ...POD_UNAVAILABLE_BUDGETS, version: 'v1alpha1' };
  const read = await plane.client.get(alpha, key('pub'));
  await plane.client.update(alpha, { ...read, spec: { ...read.spec, maxUnavailable: 2 } });
  const { spec } = await budget();
  expect(spec?.maxUnavailable).toBe(2);
  return spec?.ignoredPodSelector === undefined;
});

// " DELETE" with its blank is no operation to OpenKruise; without the quirks the annotation says nothing in v1beta1.
quirk('operations in the annotation of a v1beta1 budget', [403, 200], async (compat) => {
  await start({ compat });
  await addPod('a', named());
  await addBudget({}, { annotations: { 'kruise.io/pub-protect-operations': 'EVICT, DELETE' }, status: full });
  return codeOf(plane.client.delete(podType, key('a')));
});

quirk(
  'a targetRef to a LeaderWorkerSet, pods counted',
  [
    { totalReplicas: 6, desiredAvailable: 5, currentAvailable: 6, unavailableAllowed: 1 },
    { totalReplicas: 2, desiredAvailable: 1, currentAvailable: 2, unavailableAllowed: 1 },
  ],
  async (compat) => {
    await start({ compat, controlled: true });
    const targetRef = { apiVersion: 'leaderworkerset.x-k8s.io/v1', kind: 'LeaderWorkerSet', name: 'llm' };
    const template = { spec: { containers: [{ name: 'c', image: 'app:1' }] } };
    await plane.client.create(leaderWorkerSetType, {
      metadata: key('llm'),
      spec: { replicas: 2, leaderWorkerTemplate: { size: 3, workerTemplate: template } },
    });
    for (const group of [0, 1]) {
      for (const worker of [0, 1, 2]) {
        const labels = { [LWS.name]: 'llm', [LWS.groupIndex]: String(group), [LWS.workerIndex]: String(worker) };
        await addPod(worker === 0 ? `llm-${group}` : `llm-${group}-${worker}`, {}, labels);
      }
    }
    await addBudget({ targetRef });
    const { currentAvailable, desiredAvailable, totalReplicas, unavailableAllowed } = (await budget()).status ?? {};
    return { totalReplicas, desiredAvailable, currentAvailable, unavailableAllowed };
  },
);

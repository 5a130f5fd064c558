/** The embedded host, with the scheduler's budgets beside it. */
import { namespaceType, nodeType, podType } from '../../src/api/resource-types.ts';
import { createDisruptionController } from '../../src/controllers/disruption/index.ts';
import { createPodUnavailableBudgetController } from '../../src/controllers/pod-unavailable-budget/index.ts';
import { unavailabilityGates } from '../../src/decisions/unavailability/index.ts';
import { FeatureGates, isNotFound } from '../../src/machinery/runtime/index.ts';
import { Budgets } from '../../src/scheduler/budgets.ts';
import { type ControlPlane, startControlPlane } from '../../src/testkit/index.ts';
import { cordon, findDisagreements, tryEviction } from './doors.ts';
import { type DrawnPod, type DrawnState, drawState, type Placed } from './state.ts';

const NODES = ['node-1', 'node-2'];

export interface Agreement {
  /** Answers one line for each disagreement about the state of this seed. */
  ask(seed: number): Promise<string[]>;
  stop(): Promise<void>;
}

export async function startEmbeddedAgreement(): Promise<Agreement> {
  let budgets: Budgets | undefined;
  const plane = await startControlPlane({
    controllers: [
      createDisruptionController(),
      createPodUnavailableBudgetController(),
      (context) => {
        budgets = new Budgets(context, unavailabilityGates(new FeatureGates()));
        void budgets.follow();
        return { name: 'budgets', queues: [] };
      },
    ],
  });
  for (const name of NODES) await plane.client.create(nodeType, { metadata: { name } });
  return {
    async ask(seed) {
      const namespace = `s${seed}`;
      const state = drawState(seed, { namespace, nodes: NODES, workloadRefs: true, groupVersion: 'v1beta1' });
      await plane.client.create(namespaceType, { metadata: { name: namespace } });
      await build(plane, namespace, state);
      const preempts = (name: string): boolean => budgets?.open()([{ namespace, name }] as never) ?? true;
      const { client, clock } = plane;
      const problems = await findDisagreements({
        client,
        clock,
        namespace,
        nodes: NODES,
        state,
        preempts,
        compareCauses: true,
      });
      await clear(plane, namespace, state);
      return problems.map((problem) => `seed ${seed}: ${problem}`);
    },
    stop: () => plane.stop(),
  };
}

async function build(plane: ControlPlane, namespace: string, state: DrawnState): Promise<void> {
  const { client } = plane;
  for (const { object, type } of state.objects) await client.create(type, object);
  for (const pod of state.pods) await createPod(plane, pod);
  await plane.settle();
  for (const name of state.evicted) await tryEviction(client, { namespace, name }, false);
  for (const { object, type } of state.removed) await remove(plane, { type, object });
  for (const node of NODES) await cordon(client, node, state.cordoned.includes(node));
  await plane.settle();
}

async function createPod({ client }: ControlPlane, { object, state }: DrawnPod): Promise<void> {
  const made = await client.create(podType, object as never);
  const ready = state === 'Ready' ? 'True' : 'False';
  const phase = state === 'Ready' || state === 'Unready' ? 'Running' : state;
  await client.updateStatus(podType, { ...made, status: { phase, conditions: [{ type: 'Ready', status: ready }] } });
}

async function remove({ client }: ControlPlane, { object, type }: Placed): Promise<void> {
  const { name = '', namespace } = object.metadata;
  const ignoreGone = (error: unknown): void => {
    if (!isNotFound(error)) throw error;
  };
  const options = { gracePeriodSeconds: 0, propagationPolicy: 'Background' as const };
  await client.delete(type, { namespace, name }, options).catch(ignoreGone);
  const body = { metadata: { finalizers: null } };
  await client.patch(type, { namespace, name }, { type: 'merge', body }).catch(ignoreGone);
}

/** Budgets first, as they guard pods against being removed. */
async function clear(plane: ControlPlane, namespace: string, { objects, pods }: DrawnState): Promise<void> {
  for (const placed of [...objects].reverse()) await remove(plane, placed);
  await plane.settle();
  for (const { object } of pods) await remove(plane, { type: podType as never, object });
  await plane.client.delete(namespaceType, { name: namespace }).catch(() => {});
  await plane.settle();
}

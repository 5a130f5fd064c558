/** What both hosts do with a drawn state. */
import { namespaceType, podType } from '../../src/api/resource-types.ts';
import { type Client, isNotFound } from '../../src/machinery/runtime/index.ts';
import { cordon, tryEviction } from './doors.ts';
import type { DrawnPod, DrawnState, Placed } from './state.ts';

/** Each lane has nodes of its own, so that states which are asked about at the same time do not meet. */
export const nodesOf = (lane: number): string[] => [`node-${lane}-1`, `node-${lane}-2`];

export interface Agreement {
  /** How many states may be asked about at once. */
  readonly lanes: number;
  /** Answers one line for each disagreement about the state of this seed. */
  ask(seed: number, lane?: number): Promise<string[]>;
  stop(): Promise<void>;
}

/** `rest` resolves when everybody has seen what was written. */
export async function build(
  client: Client,
  state: DrawnState,
  { namespace, nodes, rest }: { namespace: string; nodes: readonly string[]; rest: () => Promise<void> },
): Promise<void> {
  for (const { object, type } of state.objects) await client.create(type, object);
  for (const pod of state.pods) await createPod(client, pod);
  await rest();
  for (const name of state.evicted) await tryEviction(client, { namespace, name }, false);
  for (const placed of state.removed) await remove(client, placed);
  for (const node of nodes) await cordon(client, node, state.cordoned.includes(node));
  await rest();
}

async function createPod(client: Client, { object, state }: DrawnPod): Promise<void> {
  const { name = '', namespace } = (await client.create(podType, object as never)).metadata;
  const ready = state === 'Ready' ? 'True' : 'False';
  const phase = state === 'Ready' || state === 'Unready' ? 'Running' : state;
  // A patch, as a controller may have touched the pod meanwhile.
  const body = { status: { phase, conditions: [{ type: 'Ready', status: ready }] } };
  await client.patch(podType, { namespace, name }, { type: 'merge', body }, { subresource: 'status' });
}

async function remove(client: Client, { object, type }: Placed): Promise<void> {
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
export async function clear(
  client: Client,
  { objects, pods }: DrawnState,
  { namespace, rest }: { namespace: string; rest: () => Promise<void> },
): Promise<void> {
  for (const placed of [...objects].reverse()) await remove(client, placed);
  await rest();
  for (const { object } of pods) await remove(client, { type: podType as never, object });
  await client.delete(namespaceType, { name: namespace }).catch(() => {});
  await rest();
}

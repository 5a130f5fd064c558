/** What happens to nodes in a simulation, beside drains. */
import type { Node } from '../../api/generated/core-v1.ts';
import { nodeType, podType } from '../../api/resource-types.ts';
import { type Client, type Clock, isNotFound, listAll, sleep } from '../../machinery/runtime/index.ts';
import { POWER, SIMULATED } from '../../nodes/index.ts';

/** How an action ended, in a few words, and whether all of it was done. */
export interface Ending {
  readonly outcome: string;
  readonly finished: boolean;
  /** What stays behind, each with what it waits for. */
  readonly waits?: readonly { readonly unit: string; readonly for: string }[];
}

export const finished = (outcome: string): Ending => ({ outcome, finished: true });

export interface NodeActionOptions {
  /** Failed nodes get power again after this long; absent: never. */
  readonly recoverAfterMs?: number | undefined;
  /** How long a new node takes to be ready. */
  readonly nodeStartMs: number;
  readonly note: (text: string) => void;
}

interface World {
  readonly client: Client;
  readonly clock: Clock;
}

const HOSTNAME = 'kubernetes.io/hostname';
const INTERRUPTED = 'simulate.quorate.dev/interrupted';

/** Nodes lose power, for good or for a while. */
export async function fail(
  { client, clock }: World,
  nodes: readonly string[],
  { note, recoverAfterMs }: NodeActionOptions,
): Promise<Ending> {
  const power = async (name: string, value: 'off' | null): Promise<void> => {
    await client.patch(nodeType, { name }, { type: 'merge', body: { metadata: { annotations: { [POWER]: value } } } });
    note(`node ${name} ${value === 'off' ? 'loses power' : 'has power again'}`);
  };
  for (const name of nodes) await power(name, 'off');
  if (recoverAfterMs === undefined) return finished('Failed for good');
  await sleep(clock, recoverAfterMs);
  for (const name of nodes) await power(name, null);
  return finished('Recovered');
}

/** An empty node of the same kind for each of these: its labels, taints and what it has. */
export async function addTwins(
  { client, clock }: World,
  nodes: readonly string[],
  { nodeStartMs, note }: NodeActionOptions,
): Promise<void> {
  const found = await Promise.all(nodes.map((name) => client.get(nodeType, { name })));
  await sleep(clock, nodeStartMs);
  for (const node of found) {
    const twin = twinOf(node);
    const { name = '' } = twin.metadata;
    await client.create(nodeType, twin);
    const { allocatable, capacity } = node.status ?? {};
    const body = { status: { allocatable, capacity } };
    await client.patch(nodeType, { name }, { type: 'merge', body }, { subresource: 'status' });
    note(`node ${name} is ready`);
  }
}

function twinOf({ metadata, spec }: Node): Node {
  const name = `${metadata.name ?? ''}-new`;
  const taints = (spec?.taints ?? []).filter(({ key }) => !key.startsWith('node.kubernetes.io/'));
  return {
    metadata: {
      name,
      labels: { ...metadata.labels, ...(metadata.labels?.[HOSTNAME] !== undefined && { [HOSTNAME]: name }) },
      annotations: { [SIMULATED]: 'true' },
    },
    spec: { ...(taints.length > 0 && { taints }) },
  };
}

/** A node gets its notice and a taint that keeps others away; when the notice is over it is gone, with all on it. */
export async function loseSpot(
  { client, clock }: World,
  { node: name, noticeMs }: { node: string; noticeMs: number },
  { note }: NodeActionOptions,
): Promise<Ending> {
  const { spec } = await client.get(nodeType, { name });
  const taints = [...(spec?.taints ?? []), { key: INTERRUPTED, effect: 'NoSchedule' }];
  await client.patch(nodeType, { name }, { type: 'merge', body: { spec: { taints } } });
  note(`node ${name} has notice`);
  await sleep(clock, noticeMs);
  await client.patch(nodeType, { name }, { type: 'merge', body: { metadata: { annotations: { [POWER]: 'off' } } } });
  const pods = (await listAll(client, podType, undefined)).filter((pod) => pod.spec?.nodeName === name);
  note(`node ${name} is lost, with ${pods.length} pods`);
  await client.delete(nodeType, { name });
  for (const { metadata } of pods) {
    const key = { namespace: metadata.namespace, name: metadata.name ?? '' };
    await client.delete(podType, key, { gracePeriodSeconds: 0 }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
  return finished('Lost');
}

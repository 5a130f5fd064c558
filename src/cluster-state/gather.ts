import type { Pod } from '../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../api/generated/policy-v1.ts';
import type { KubeObject } from '../api/resource.ts';
import { namespaceType, nodeType } from '../api/resource-types.ts';
import type { ExplainedBudgets } from '../decisions/all-budgets/index.ts';
import { DisruptionIndex, FED_KINDS, type FedKind, guardEverything } from '../decisions/disruption/index.ts';
import {
  asksForRoom,
  UNAVAILABILITY_KINDS,
  UnavailabilityFeed,
  unavailabilityGates,
} from '../decisions/unavailability/index.ts';
import { type Client, FeatureGates } from '../machinery/runtime/index.ts';
import { ClusterReader } from './cluster-reader.ts';
import { gatherRoom } from './gather-room.ts';
import { readGroupNumbers } from './ledgers.ts';

/** Everything that budgets of both kinds decide on, as a cluster says it at one moment. */
export interface BudgetState {
  readonly index: DisruptionIndex;
  readonly unavailability: UnavailabilityFeed;
  readonly pods: readonly Pod[];
  readonly isCordoned: (node: string) => boolean;
  /** The same pods and groups under one budget for each namespace that selects everything: groups nobody guards too. */
  readonly everyGroup: () => DisruptionIndex;
}

export interface GatherOptions {
  /** One namespace; absent: all of them. */
  readonly namespace?: string | undefined;
  readonly now: number;
}

/**
 * Reads from any API server what decisions about evictions need.
 * @throws {CannotTellError} when something that matters may not be read
 */
export async function gatherBudgets(client: Client, { namespace, now }: GatherOptions): Promise<BudgetState> {
  const reader = new ClusterReader(client, namespace);
  const lists = new Map(
    await Promise.all(FED_KINDS.map(async (row) => [row, await reader.list(row.types)] as [FedKind, KubeObject[]])),
  );
  const index = new DisruptionIndex();
  for (const [row, objects] of lists) for (const object of objects) row.set(index, object);
  const of = (role: FedKind['role']): KubeObject[] =>
    [...lists].flatMap(([row, objects]) => (row.role === role ? objects : []));
  const pods = of('Pod') as Pod[];
  await readGroupNumbers(reader, index, of('Budget') as PodDisruptionBudget[], now);
  const unavailability = await gatherUnavailability(reader, pods);
  const cordoned = await readCordoned(reader, index);
  reader.assertComplete();
  const askingPubs = unavailability.indexes
    .namespaces()
    .some((at) => Array.from(unavailability.indexes.of(at).budgets()).some(({ budget }) => asksForRoom(budget)));
  if (askingPubs || Array.from(index.budgets()).some(({ needsRoom }) => needsRoom))
    index.room = await gatherRoom(client);
  const everyGroup = (): DisruptionIndex => {
    const every = new DisruptionIndex();
    for (const at of new Set(pods.map(({ metadata }) => metadata.namespace ?? ''))) guardEverything(every, at);
    for (const [row, objects] of lists) {
      if (row.role !== 'Budget') for (const object of objects) row.set(every, object);
    }
    return every;
  };
  return { index, unavailability, pods, isCordoned: (node) => cordoned.has(node), everyGroup };
}

/** What PodUnavailableBudgets guard where nobody has said otherwise; a tool cannot see a server's feature gates. */
const GATES = unavailabilityGates(new FeatureGates());

/** What evictions would be answered in this state. */
export function evictionBudgets({ index, isCordoned, unavailability }: BudgetState, now: number): ExplainedBudgets {
  return { index, isCordoned, unavailability, now, gates: GATES, operation: 'EVICT' };
}

/** Owners and namespaces are only read where there are budgets. */
async function gatherUnavailability(reader: ClusterReader, pods: readonly Pod[]): Promise<UnavailabilityFeed> {
  const feed = new UnavailabilityFeed();
  const budgets = UNAVAILABILITY_KINDS.filter(({ role }) => role === 'Budget');
  let guarded = false;
  for (const row of budgets) {
    const objects = await reader.list(row.types);
    guarded ||= objects.length > 0;
    for (const object of objects) row.set(feed, object);
  }
  if (!guarded) return feed;
  for (const namespace of feed.indexes.namespaces()) {
    const found = await reader.get(namespaceType, { name: namespace });
    if (found !== undefined) feed.setNamespace(found);
  }
  for (const row of UNAVAILABILITY_KINDS) {
    if (row.role === 'Budget') continue;
    const objects = row.role === 'Pod' ? pods : await reader.list(row.types);
    for (const object of objects) row.set(feed, object);
  }
  return feed;
}

/** Only budgets that look ahead ask whether a node is cordoned. */
async function readCordoned(reader: ClusterReader, index: DisruptionIndex): Promise<ReadonlySet<string>> {
  if (!Array.from(index.budgets()).some(({ lookahead }) => lookahead)) return new Set();
  const nodes = await reader.list([nodeType]);
  return new Set(nodes.filter(({ spec }) => spec?.unschedulable === true).map(({ metadata }) => metadata.name ?? ''));
}

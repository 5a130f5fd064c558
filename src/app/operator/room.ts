/** Nodes and what is on them, for budgets that ask for room: followed only while there is such a budget. */
import type { PodDisruptionBudget } from '../../api/generated/policy-v1.ts';
import type { PodUnavailableBudget } from '../../api/kruise/types.ts';
import type { DisruptionLedger } from '../../api/quorate/types.ts';
import { keyOf, type KubeObject } from '../../api/resource.ts';
import { nodeType, podType } from '../../api/resource-types.ts';
import { ROOM_KINDS, RoomKeeper } from '../../decisions/capacity/index.ts';
import { type DisruptionIndex, needsRoom } from '../../decisions/disruption/index.ts';
import { asksForRoom, type BudgetIndexes, keepRecordedRoom } from '../../decisions/unavailability/index.ts';
import { levelOfVersion, searchesByVersion } from '../../decisions/placement/index.ts';
import {
  type Client,
  type Clock,
  type Following,
  followServed,
  type Informer,
  type Logger,
  STALLED_MS,
  type Transport,
} from '../../machinery/runtime/index.ts';
import { keepListedRooms, type RoomFollower, sawAllOfNow } from '../../webhook/index.ts';
import { type Components, openComponents } from '../run-components.ts';
import { roomTransforms } from './transforms.ts';

export interface RoomParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly send: Transport;
  readonly signal: AbortSignal;
  readonly index: DisruptionIndex;
  readonly budgets: Informer<PodDisruptionBudget>;
  /** Absent where pods are not guarded by them. */
  readonly podBudgets: Informer<PodUnavailableBudget> | undefined;
  /** What those count. */
  readonly podIndexes: BudgetIndexes;
  readonly ledgers: Informer<DisruptionLedger>;
  /** Names this replica in its grants. */
  readonly identity: string;
}

/** Older than this, what is known of pods and nodes is compared with what the API server has, or not gone by. */
const FRESH_MS = 5_000;

/** Lets the replica's index tell where pods could go. */
export async function openRoom(parts: RoomParts): Promise<RoomFollower> {
  const { budgets, client, clock, identity, index, ledgers, podBudgets } = parts;
  const { gitVersion } = await client.request<{ gitVersion: string }>('GET', '/version');
  const rules = { level: levelOfVersion(gitVersion) };
  const searches = searchesByVersion(gitVersion);
  const asking = new Set<string>();
  let followed: FollowedRoom | undefined;
  const listed = ({ metadata, status }: DisruptionLedger): void => {
    const budget = { namespace: metadata.namespace ?? '', name: metadata.name ?? '' };
    keepListedRooms({ identity, index }, budget, status?.grants ?? [], clock.now());
  };
  const look = (budget: string, asks: boolean): void => {
    if (asks) asking.add(budget);
    else asking.delete(budget);
    if (asking.size === 0) {
      followed?.stop();
      followed = undefined;
    } else followed ??= followRoom(parts, (unsure) => new RoomKeeper({ rules, searches, unsure }));
    const wasKnown = index.room !== undefined;
    index.room = followed?.keeper;
    if (!wasKnown && followed !== undefined) ledgers.list().forEach(listed);
  };
  const follow = <T extends KubeObject>(informer: Informer<T> | undefined, asks: (budget: T) => boolean): void => {
    const idOf = (budget: T): string => `${informer?.type.plural} ${keyOf(budget)}`;
    informer?.addHandler({
      added: (budget) => look(idOf(budget), asks(budget)),
      updated: (budget) => look(idOf(budget), asks(budget)),
      deleted: (budget) => look(idOf(budget), false),
    });
  };
  follow(budgets, ({ metadata }) => needsRoom(metadata.annotations));
  follow(podBudgets, asksForRoom);
  ledgers.addHandler({ added: listed, updated: listed });
  // While the pods that went are still there: afterwards nobody can tell which group a name belonged to.
  const recorded = (budget: PodUnavailableBudget): void => {
    const { name = '', namespace = '' } = budget.metadata;
    const entry = followed && parts.podIndexes.of(namespace).budget(name);
    if (entry !== undefined && followed !== undefined)
      keepRecordedRoom({ ...entry, budget }, followed.keeper, clock.now());
  };
  podBudgets?.addHandler({ added: recorded, updated: recorded });
  return { freshen: (signal) => followed?.freshen(signal) ?? Promise.resolve() };
}

interface FollowedRoom extends RoomFollower {
  readonly keeper: RoomKeeper;
  stop(): void;
}

function followRoom(
  { client, clock, log, send, signal }: RoomParts,
  newKeeper: (unsure: () => string | undefined) => RoomKeeper,
): FollowedRoom {
  const components = openComponents({
    transportFor: () => send,
    clock,
    log,
    transforms: roomTransforms,
    stalledMs: STALLED_MS,
    optional: () => true,
    signal,
  });
  const followed = [components.informers.of(podType), components.informers.of(nodeType)] as Informer<KubeObject>[];
  /** When a copy was last seen to be as new as what the API server has. */
  const provenMs = new Map<Informer<KubeObject>, number>();
  const ageMs = (informer: Informer<KubeObject>): number =>
    Math.min(informer.silentMs, clock.elapsed() - (provenMs.get(informer) ?? Number.NEGATIVE_INFINITY));
  let following: Following | undefined;
  const keeper = newKeeper(() => {
    const [problem] = components.informers.problems();
    if (problem !== undefined) return `${problem}`;
    if (following?.known !== true) return 'the nodes are still being read';
    const age = Math.max(...followed.map(ageMs));
    return age > FRESH_MS ? `the view is ${Math.floor(age / 1000)} s old` : undefined;
  });
  keeper.cluster.volumes.known = true;
  following = feed(components, keeper);
  const prove = async (informer: Informer<KubeObject>, wanted: AbortSignal): Promise<void> => {
    if (ageMs(informer) <= FRESH_MS) return;
    const askedMs = clock.elapsed();
    if (await sawAllOfNow({ client, clock }, informer, wanted)) provenMs.set(informer, askedMs);
  };
  return {
    keeper,
    async freshen(wanted) {
      if (following.known) await Promise.all(followed.map((informer) => prove(informer, wanted)));
    },
    stop: () => components.stop(),
  };
}

function feed(components: Components, keeper: RoomKeeper): Following {
  let following: Following | undefined;
  components.start([
    {
      name: 'room',
      start(context) {
        following = followServed({
          context,
          kinds: ROOM_KINDS,
          seen: (row, object) => row.set(keeper, object),
          gone: (row, { metadata: { name = '', namespace = '' } }) => row.delete(keeper, namespace, name),
        });
        return { name: 'room', queues: [] };
      },
    },
  ]);
  if (following === undefined) throw new Error('Cannot follow the nodes: their following did not start');
  return following;
}

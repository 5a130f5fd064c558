import type { Pod } from '../../api/generated/core-v1.ts';
import type { Condition } from '../../api/generated/meta-v1.ts';

/** Condition of a budget that asks for room: whether what it guards would find places, were it to go now. */
export const CAPACITY_AVAILABLE = 'CapacityAvailable';
/** Its reason while a unit is down whose held room went to others. */
export const CAPACITY_LOST = 'CapacityLost';

/** What a budget says of room that is lost. */
export const lostRoomOf = (conditions: readonly Condition[] | undefined): string | undefined => {
  const said = conditions?.find(({ type }) => type === CAPACITY_AVAILABLE);
  return said?.reason === CAPACITY_LOST ? `${CAPACITY_LOST}: ${said.message}` : undefined;
};

/** Marks pods that hold room for a unit; no budget counts them. */
export const HOLD_LABEL = 'policy.quorate.dev/hold';

interface PodKey {
  readonly namespace: string;
  readonly name: string;
}

/** Asks whether all of a unit finds places before one of its pods goes. */
export interface RoomAsk {
  /** The pod that is to go. */
  readonly pod: PodKey;
  /** All pods of its unit, itself among them. */
  readonly members: readonly (PodKey & { readonly uid: string })[];
  /** Names the unit in promises: two questions about one unit never stand in each other's way. */
  readonly unit: string;
  readonly now: number;
  /** Nodes that a drain is about to cordon. */
  readonly closing: readonly string[];
}

/** Room on a node that is kept for one member. */
export interface KeptPlace {
  readonly node: string;
  /** By resource, in whole units (cpu in milli). */
  readonly amounts: Readonly<Record<string, number>>;
}

/** A place found for one member: what it takes there. */
export interface PromisedPlace extends KeptPlace {
  /** The pod that is to come there. */
  readonly pod: Pod;
  /** Free now, and not only once members of the unit are gone: such room can be held. */
  readonly isFree: boolean;
}

export type RoomAnswer =
  | { readonly found: true; readonly where: readonly PromisedPlace[] }
  | {
      readonly found: false;
      readonly reason: 'NoRoom' | 'CannotTell';
      readonly text: string;
      /** Sooner than usual: what is not known now soon is. */
      readonly retryAfterSeconds?: number | undefined;
    };

/** Room that is held for a unit from the grant until it is back. */
export interface RoomReserve {
  readonly forMs: number;
  readonly onFailure: 'Refuse' | 'Proceed';
  /** Placeholders of low priority give way to whatever fills gaps. */
  readonly low: boolean;
}

/** A budget that wants room held; placeholders are its own and go with it. */
export interface HoldingBudget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The places that a grant rests on. */
export interface FoundRoom {
  readonly ask: RoomAsk;
  readonly where: readonly PromisedPlace[];
  /** Set where the budget wants placeholders to hold them. */
  readonly hold?: { readonly budget: HoldingBudget; readonly reserve: RoomReserve } | undefined;
}

/** UID of the pod whose eviction asked for room. */
export const evictedUid = ({ ask: { members, pod } }: FoundRoom): string =>
  members.find(({ name, namespace }) => name === pod.name && namespace === pod.namespace)?.uid ?? '';

/** Who knows the nodes and what is on them. */
export interface RoomJudge {
  ask(ask: RoomAsk): RoomAnswer;
  /** Places for so many members whose room others have taken, beside all that stands and what is still held for them. */
  replace(ask: RoomAsk & { readonly pods: readonly Pod[] }, lost: number): RoomAnswer;
  /** Keeps what was found from other units, until the unit is back or the time is over. */
  promise(ask: Pick<RoomAsk, 'members' | 'unit'>, where: readonly KeptPlace[], until: number): void;
  /** Whether room is kept for a unit. */
  hasPromise(unit: string): boolean;
  /** What was kept for a unit is free again: its eviction was not granted after all. */
  withdraw(unit: string): void;
  /** Placeholders that hold room for other units than this one, and for how many units. */
  heldForOthers(unit: string): { readonly placeholders: number; readonly units: number };
  /** What is promised meanwhile is forgotten at the end. */
  during<T>(work: () => T): T;
}

/** How long room that was found for a unit is kept for it. */
export const PROMISED_MS = 120_000;

interface PodKey {
  readonly namespace: string;
  readonly name: string;
}

/** Asks whether all of a unit finds places before one of its pods goes. */
export interface RoomAsk {
  /** The pod that is to go. */
  readonly pod: PodKey;
  /** All pods of its unit, itself among them. */
  readonly members: readonly PodKey[];
  /** Names the unit in promises: two questions about one unit never stand in each other's way. */
  readonly unit: string;
  readonly now: number;
  /** Nodes that a drain is about to cordon. */
  readonly closing: readonly string[];
}

/** A place found for one member: what it takes there. */
export interface PromisedPlace {
  readonly node: string;
  /** By resource, in whole units (cpu in milli). */
  readonly amounts: Readonly<Record<string, number>>;
}

export type RoomAnswer =
  | { readonly found: true; readonly where: readonly PromisedPlace[] }
  | { readonly found: false; readonly reason: 'NoRoom' | 'CannotTell'; readonly text: string };

/** Who knows the nodes and what is on them. */
export interface RoomJudge {
  ask(ask: RoomAsk): RoomAnswer;
  /** Keeps what was found from other units, until the unit is back or the time is over. */
  promise(ask: RoomAsk, where: readonly PromisedPlace[], until: number): void;
  /** What is promised meanwhile is forgotten at the end. */
  during<T>(work: () => T): T;
}

/** How long room that was found for a unit is kept for it. */
export const PROMISED_MS = 120_000;

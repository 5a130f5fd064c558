/** A drain that is not finished, ours or somebody else's. Names of things that wait are also how they are told: `drain/a`. */
export interface WaitingDrain {
  readonly id: string;
  /** It gets on by itself: a pod of it goes or may go, a person paused it, it waits for a window, or nobody can tell. */
  readonly isLive: boolean;
  /** Budgets, groups, rooms and drains; it gets on when all of them do. */
  readonly waitsFor: readonly string[];
  /** Quorate carries it out, so Quorate can pause it. */
  readonly isOurs: boolean;
  /** Its nodes are open again when it has ended. */
  readonly returns: boolean;
  readonly cost: PauseCost;
}

/** What pausing a drain throws away, the weightiest first. */
export interface PauseCost {
  readonly groupsDown: number;
  readonly podsMoved: number;
  readonly nodesDrained: number;
  /** Milliseconds; none is the farthest. */
  readonly deadline?: number | undefined;
  /** Milliseconds; the youngest is the cheapest. */
  readonly createdAt: number;
}

/** A budget that refuses. */
export interface WaitedBudget {
  readonly id: string;
  /** So many of its short groups have to come back before it lets one go; 0: it does now. */
  readonly lacks: number;
  readonly short: readonly string[];
}

/** A group that somebody waits for. */
export interface WaitedGroup {
  readonly id: string;
  /** It is whole, or everything it lacks is bound or finds room now. */
  readonly isLive: boolean;
  /** The rooms that its members wait for, all of them. */
  readonly waitsFor: readonly string[];
}

/** Room that is not there now. */
export interface WaitedRoom {
  readonly id: string;
  /** More of it comes from outside, or nobody can tell. */
  readonly isLive: boolean;
  /** Drains whose nodes would be that room; any one of them is enough. */
  readonly keptBy: readonly KeptRoom[];
}

export interface KeptRoom {
  readonly drain: string;
  /** Letting go of it makes that room at once: it has not to be emptied first, and is not empty already. */
  readonly opensWhenPaused: boolean;
}

/** Who waits for what, at one moment. */
export interface WaitState {
  readonly drains: readonly WaitingDrain[];
  readonly budgets: readonly WaitedBudget[];
  readonly groups: readonly WaitedGroup[];
  readonly rooms: readonly WaitedRoom[];
}

export const drainId = (name: string): string => `drain/${name}`;
export const budgetId = (kind: string, namespace: string, name: string): string => `${kind} ${namespace}/${name}`;
export const groupId = (name: string): string => `group ${name}`;
export const roomId = (group: string): string => `capacity for ${group}`;
/** Room for what a drain would move, away from its own nodes. */
export const roomAwayId = (group: string, drain: string): string => `capacity for ${group} away from ${drain}`;

/** Things that wait for each other, and which nothing outside helps. */
export interface Deadlock {
  /** All of them, sorted. */
  readonly members: readonly string[];
  /** The drains among them, sorted. */
  readonly drains: readonly string[];
  /** A shortest ring, from its least member on; the last waits for the first. */
  readonly ring: readonly string[];
  /** The drain that costs least to pause and lets all others go on. */
  readonly pause?: string | undefined;
  /** Where none does: the budget that would have to let go of so many more. */
  readonly loosen?: { readonly budget: string; readonly by: number } | undefined;
}

/** What a stage may ask about a pod. Computed afresh from the pod each time it changes. */
export interface PodStageFacts {
  /** Deletion was asked for. */
  readonly deleting: boolean;
  /** The phase is Succeeded or Failed. */
  readonly terminal: boolean;
  /** Its containers have been started on the node. */
  readonly started: boolean;
  /** Rule `hostport`: an older pod of the node holds one of its host ports. */
  readonly portsTaken: boolean;
  /** Rule `image`: some image cannot be pulled, and the back-off is not shown yet. */
  readonly pullFailing: boolean;
  /** Rule `deadline`: it has an activeDeadlineSeconds. */
  readonly hasDeadline: boolean;
  /** An annotation, or rule `exit`, says that its running containers end. */
  readonly ends: boolean;
  /** A container waits to be started again. */
  readonly crashed: boolean;
  /** Some container is not ready yet but will be. */
  readonly warmingUp: boolean;
  /** The status does not show what it should by now. */
  readonly stale: boolean;
}

/** Moments and spans a delay may refer to, in milliseconds. */
export interface PodMoments {
  readonly startDelay: number;
  readonly stopDelay: number;
  readonly grace: number;
  readonly readyAt: number;
  readonly deadlineAt: number;
  readonly endsAt: number;
  readonly restartAt: number;
}

type Span = 'startDelay' | 'stopDelay' | 'grace';
type Moment = 'readyAt' | 'deadlineAt' | 'endsAt' | 'restartAt';

export interface StageDelay {
  /** Counted from when the stage first matched. */
  readonly ms?: number;
  /** Up to this much more, drawn per pod and stage from the seed. */
  readonly jitterMs?: number;
  readonly atLeast?: Span;
  readonly atMost?: Span;
  /** Not before this moment; used alone, exactly then. */
  readonly until?: Moment;
}

export type PodEffect =
  | 'start'
  | 'sync'
  | 'back-off-pull'
  | 'reject-ports'
  | 'exceed-deadline'
  | 'end'
  | 'restart'
  | 'stop'
  | 'remove';

/** One step of a life cycle: when a pod matches, wait, then do. */
export interface Stage {
  readonly name: string;
  readonly match: Partial<PodStageFacts>;
  readonly delay: StageDelay;
  readonly effect: PodEffect;
}

export function stageMatches({ match }: Stage, facts: PodStageFacts): boolean {
  for (const name in match) {
    const fact = name as keyof PodStageFacts;
    if (facts[fact] !== match[fact]) return false;
  }
  return true;
}

/**
 * When the stage is due. `draw` is the pod's own number in [0, 1) for this stage, the same each time it is
 * asked for, so that looking at a pod again never moves its steps.
 */
export function dueOf(
  { delay, name }: Stage,
  since: number,
  moments: PodMoments,
  draw: (stage: string) => number,
): number {
  let wait = (delay.ms ?? 0) + (delay.jitterMs === undefined ? 0 : delay.jitterMs * draw(name));
  if (delay.atLeast !== undefined) wait = Math.max(wait, moments[delay.atLeast]);
  if (delay.atMost !== undefined) wait = Math.min(wait, moments[delay.atMost]);
  const due = since + Math.floor(wait);
  if (delay.until === undefined) return due;
  return wait === 0 ? moments[delay.until] : Math.max(due, moments[delay.until]);
}

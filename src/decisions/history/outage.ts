/** A group as it is at one moment. */
export interface GroupLook {
  readonly isWhole: boolean;
  /** Members that are on their way out. */
  readonly going: number;
  /** Members that are Ready and stay. */
  readonly ready: number;
  /** All its members are disrupted together: it is down as soon as one goes. */
  readonly together: boolean;
  /** It has no members, and nobody makes them again. */
  readonly isRemoved: boolean;
}

/** So long a group must have been whole again, without a member going, before it counts as whole. */
export const STABLE_MS = 10_000;

export interface OutageEnd {
  readonly at: number;
  readonly end: 'Whole' | 'Removed';
}

/** One time that a group is down: from the first moment below its minimum to the first of a stretch of 10 s at it. */
export class Outage {
  readonly downAt: number;
  /** The entry that it counts for; others that come meanwhile refer to it. */
  entry: string | undefined;
  /** Members that were Ready before. */
  readonly #members: number;
  #podMs: number;
  #lookedAt: number;
  #missing: number;
  #whole: { readonly at: number; readonly podMs: number } | undefined;
  #removedAt: number | undefined;
  #isResumed: boolean;

  /** `podMs` is given where another process saw it begin: what that one missed is taken to be as it is now. */
  constructor({ downAt, members, podMs }: { readonly downAt: number; readonly members: number; podMs?: number }) {
    this.downAt = downAt;
    this.#members = members;
    this.#podMs = podMs ?? 0;
    this.#lookedAt = downAt;
    this.#missing = 0;
    this.#isResumed = podMs !== undefined;
  }

  look({ going, isRemoved, isWhole, ready }: GroupLook, now: number): void {
    this.#pass(now);
    this.#missing = Math.max(0, this.#members - ready);
    if (this.#isResumed) this.#podMs = Math.max(this.#podMs, this.#missing * (now - this.downAt));
    this.#isResumed = false;
    const isBack = isWhole && going === 0;
    if (!isBack) this.#whole = undefined;
    else this.#whole ??= { at: now, podMs: this.#podMs };
    this.#removedAt = isRemoved ? (this.#removedAt ?? now) : undefined;
  }

  /** How it ended, once that is certain. */
  endedBy(now: number): OutageEnd | undefined {
    if (this.#whole !== undefined && now - this.#whole.at >= STABLE_MS) return { at: this.#whole.at, end: 'Whole' };
    if (this.#removedAt !== undefined && now - this.#removedAt >= STABLE_MS) {
      return { at: this.#removedAt, end: 'Removed' };
    }
    return undefined;
  }

  /** The time that members were not Ready, added up, until it ended or until now. */
  podMsAt(now: number): number {
    this.#pass(now);
    return this.#whole?.podMs ?? this.#podMs;
  }

  #pass(now: number): void {
    this.#podMs += this.#missing * Math.max(0, now - this.#lookedAt);
    this.#lookedAt = Math.max(now, this.#lookedAt);
  }
}

import type { GroupEvictionSpec } from '../../api/quorate/group-eviction.ts';

/** What somebody asked to let go, and the answer that was given. */
export interface GivenAnswer {
  readonly at: number;
  readonly kind: 'Eviction' | 'GroupEviction' | 'Delete';
  readonly namespace: string;
  /** The pod as it was when the answer was given; absent where a group was asked for. */
  readonly pod?: { readonly name: string; readonly uid: string } | undefined;
  /** KIND/NAME, where a group was asked for. */
  readonly group?: string | undefined;
  readonly who: string;
  readonly userAgent?: string | undefined;
  readonly allowed: boolean;
  /** A delete that a PodUnavailableBudget was asked about. */
  readonly judged?: boolean | undefined;
  readonly refusal?: AnswerRefusal | undefined;
}

export interface AnswerRefusal {
  readonly reason: string;
  readonly message: string;
  readonly budgets: readonly string[];
  readonly policies: readonly string[];
}

const LIMIT = 10_000;

/**
 * Carries answers from where they are given to who keeps the record, within one process. Telling never waits, never fails
 * and writes nothing; of too many at once the oldest are forgotten and counted.
 */
export class AnswerQueue {
  #waiting: GivenAnswer[] = [];
  readonly #limit: number;
  /** Answers that nobody took in time. */
  forgotten = 0;

  constructor(limit = LIMIT) {
    this.#limit = limit;
  }

  tell(answer: GivenAnswer): void {
    this.#waiting.push(answer);
    if (this.#waiting.length < this.#limit * 2) return;
    this.forgotten += this.#limit;
    this.#waiting = this.#waiting.slice(this.#limit);
  }

  take(): GivenAnswer[] {
    const { length } = this.#waiting;
    if (length === 0) return [];
    const taken = this.#waiting;
    this.#waiting = [];
    const over = Math.max(0, length - this.#limit);
    this.forgotten += over;
    return over === 0 ? taken : taken.slice(over);
  }
}

/** Whether a code says that somebody refused: what is gone, changed or not understood is no refusal. */
export const isRefusalCode = (code: number | undefined): boolean => code === 429 || code === 403 || code === 500;

/** What of a refusal's Status the record keeps. Kubernetes names the budget in its message, causes name all of them. */
export function readRefusal(status: {
  readonly message?: string | undefined;
  readonly reason?: string | undefined;
  readonly details?:
    | { readonly causes?: readonly { readonly reason?: string; readonly message?: string }[] }
    | undefined;
}): AnswerRefusal {
  const { details, message = '', reason = 'Unknown' } = status;
  const causes = details?.causes ?? [];
  const texts = [message, ...causes.map((cause) => cause.message ?? '')];
  const find = (pattern: RegExp): string[] => [
    ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].flatMap((found) => found[1] ?? []))),
  ];
  const [first] = causes;
  return {
    reason: first?.reason ?? reason,
    message: message.slice(0, MESSAGE_CHARACTERS),
    budgets: find(/(?:The disruption budget|PodUnavailableBudget|podunavailablebudget[\w.]*) "?([\w./-]*\w)"?/g),
    policies: find(/DisruptionPolicy ([\w./-]*\w)/g),
  };
}

const MESSAGE_CHARACTERS = 512;

/** KIND/NAME of the group that a GroupEviction names. */
export function groupNamedBy(spec: GroupEvictionSpec = {}): string {
  const { groupLabel, leaderWorkerSet, podGroupName = '' } = spec;
  if (leaderWorkerSet !== undefined) return `LeaderWorkerSet/${leaderWorkerSet.name}/${leaderWorkerSet.groupIndex}`;
  return groupLabel === undefined ? `PodGroup/${podGroupName}` : `Label/${groupLabel.key}=${groupLabel.value}`;
}

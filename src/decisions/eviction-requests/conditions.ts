import type { Condition } from '../../api/generated/meta-v1.ts';
import { FAILED, isTrue, TARGET_EVICTED } from '../../api/lifecycle/index.ts';
import { formatTime } from '../../machinery/values/index.ts';

interface Told {
  readonly evicted: readonly [isTrue: boolean, reason: string, message: string];
  readonly failed: readonly [isTrue: boolean, reason: string, message: string];
}

const failed = (reason: string, message: string): Told => ({
  evicted: [false, 'EvictionFailed', message],
  failed: [true, reason, message],
});
const evicted = (reason: string, message: string): Told => ({
  evicted: [true, reason, message],
  failed: [false, 'Succeeded', message],
});
const WAITING = 'the pod is to be evicted';

/** Every outcome, with its reasons and words. */
export const OUTCOMES = {
  awaiting: { evicted: [false, 'AwaitingEviction', WAITING], failed: [false, 'AwaitingEviction', WAITING] },
  invalid: failed('EvictionInvalid', 'there is no pod of this name and uid'),
  noRequesters: failed('CanceledDueToNoRequesters', 'no EvictionRequest asks for it any more'),
  noFurther: failed('NoFurtherResponder', 'every responder had its turn, and the pod is still there'),
  deleted: evicted('PodDeleted', 'the pod is deleted'),
  terminal: evicted('PodTerminal', 'the pod has finished'),
} as const satisfies Record<string, Told>;

export type EvictionOutcome = keyof typeof OUTCOMES;

/** The two conditions of an outcome, beside what others wrote; times move only with the status. */
export function withOutcome(
  conditions: readonly Condition[] | undefined,
  outcome: EvictionOutcome,
  { generation, now }: { generation: number | undefined; now: number },
): Condition[] {
  const { evicted: evictedIs, failed: failedIs } = OUTCOMES[outcome];
  const next = [...(conditions ?? [])];
  for (const [type, [isSo, reason, message]] of [[TARGET_EVICTED, evictedIs] as const, [FAILED, failedIs] as const]) {
    const status = isSo ? 'True' : 'False';
    const at = next.findIndex((condition) => condition.type === type);
    const before = next[at];
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTime(now);
    const condition: Condition = {
      type,
      status,
      reason,
      message,
      lastTransitionTime,
      ...(generation !== undefined && { observedGeneration: generation }),
    };
    if (before === undefined) next.push(condition);
    else next[at] = condition;
  }
  return next;
}

/** The conditions of an Eviction, in the place of those its request had. */
export function copyConditions(
  own: readonly Condition[] | undefined,
  from: readonly Condition[] | undefined,
  generation: number | undefined,
): Condition[] {
  const copied = (from ?? [])
    .filter(({ type }) => type === TARGET_EVICTED || type === FAILED)
    .map((condition) => ({ ...condition, ...(generation !== undefined && { observedGeneration: generation }) }));
  const types = new Set(copied.map(({ type }) => type));
  return [...(own ?? []).filter(({ type }) => !types.has(type)), ...copied];
}

export const isOver = ({ status }: { status?: { conditions?: Condition[] | undefined } | undefined }): boolean =>
  isTrue(status?.conditions, TARGET_EVICTED) || isTrue(status?.conditions, FAILED);

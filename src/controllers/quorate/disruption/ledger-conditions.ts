/** What a ledger says beside its numbers: why evictions may go otherwise than it counts. */
import type { Condition } from '../../../api/generated/meta-v1.ts';
import type { PodDisruptionBudget } from '../../../api/generated/policy-v1.ts';
import type { Clock, EventRecorder } from '../../../machinery/runtime/index.ts';
import { formatTime } from '../../../machinery/values/index.ts';

export interface ConditionFacts {
  /** The numbers in the budget are ours. */
  readonly publishes: boolean;
  /** Who keeps putting other numbers into the budget. */
  readonly foreignWriter?: string | undefined;
  /** Webhook configurations that were deleted. */
  readonly unguarded: readonly string[];
}

interface Wanted {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const OURS = ['BuiltInCountTighter', 'ForeignWriter', 'Unguarded'];

/** The conditions with those of ours as they are now. What has become true is said in an event too. */
export function withLedgerConditions(
  { clock, events }: { readonly clock: Clock; readonly events: EventRecorder },
  budget: PodDisruptionBudget,
  conditions: readonly Condition[],
  facts: ConditionFacts,
): Condition[] {
  const wanted = [builtinCount(budget, facts), foreignWriter(facts), unguarded(facts)].flatMap((one) => one ?? []);
  const kept = conditions.filter(({ type }) => !OURS.includes(type));
  return [
    ...kept,
    ...wanted.map((one) => {
      const old = conditions.find(({ type }) => type === one.type);
      if (one.status === 'True' && old?.status !== 'True') events.record(budget, 'Warning', one.type, one.message);
      const isSame = old?.status === one.status && old.lastTransitionTime;
      return { ...one, lastTransitionTime: isSame ? old.lastTransitionTime : formatTime(clock.now()) };
    }),
  ];
}

/**
 * Beside Kubernetes' own controller, groups can only be counted on top of its count of pods. That is exact for an
 * integer minAvailable; the other spellings it resolves to pods, and then it may refuse what groups would allow.
 */
function builtinCount({ spec }: PodDisruptionBudget, { publishes }: ConditionFacts): Wanted | undefined {
  if (publishes) return undefined;
  const { maxUnavailable, minAvailable } = spec ?? {};
  const isTighter = maxUnavailable !== undefined || typeof minAvailable === 'string';
  return {
    type: 'BuiltInCountTighter',
    status: isTighter ? 'True' : 'False',
    reason: isTighter ? 'CountsPods' : 'Exact',
    message: isTighter
      ? 'Kubernetes resolves this budget to a number of pods and may refuse evictions that the groups would allow; use an integer minAvailable, a PodUnavailableBudget, or adopt mode'
      : '',
  };
}

function foreignWriter({ foreignWriter: writer }: ConditionFacts): Wanted | undefined {
  if (writer === undefined) return undefined;
  const message = `${writer} keeps writing other numbers into this budget, which are put right every 30 s only; in replace mode start kube-controller-manager with --controllers=*,-disruption-controller, or install with --mode adopt`;
  return { type: 'ForeignWriter', status: 'True', reason: 'TwoWriters', message };
}

function unguarded({ unguarded: names }: ConditionFacts): Wanted | undefined {
  if (names.length === 0) return undefined;
  const message = `the webhook configurations ${names.join(', ')} were deleted, so evictions may pass without a look at groups; apply the manifests again`;
  return { type: 'Unguarded', status: 'True', reason: 'ConfigurationDeleted', message };
}

import type { Pod } from '../../../api/generated/core-v1.ts';
import type { PodDisruptionBudget } from '../../../api/generated/policy-v1.ts';
import { type KubeObject, keyOf } from '../../../api/resource.ts';
import { type BudgetCount, UNRESOLVED } from '../../../decisions/disruption/index.ts';
import type { EventRecorder, EventType } from '../../../machinery/runtime/index.ts';

export interface Said {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

const warning = (reason: string, message: string): Said => ({ type: 'Warning', reason, message });

export function publish(events: EventRecorder, object: KubeObject, { type, reason, message }: Said): void {
  events.record(object, type, reason, message);
}

export const noPods: Said = { type: 'Normal', reason: 'NoPods', message: 'No matching pods found' };

export const podsUnreadable = (why: string): Said => warning('NoPods', `Failed to get pods: ${why}`);

export const expectedCountFailed = (why: string): Said =>
  warning('CalculateExpectedPodCountFailed', `Failed to calculate the number of expected pods: ${why}`);

export const unmanagedPods = ({ spec }: PodDisruptionBudget): Said =>
  warning(
    'UnmanagedPods',
    `Pods selected by this PodDisruptionBudget (selector: ${JSON.stringify(spec?.selector ?? null)}) have no controller, so how many should exist is unknown and they are left out. To account for these pods set ".spec.minAvailable" to an integer.`,
  );

export const notDeleted = (budget: PodDisruptionBudget): Said =>
  warning('NotDeleted', `Pod was expected by PDB ${keyOf(budget)} to be deleted but it wasn't`);

export const multipleBudgets = (pod: Pod, chosen: string): Said =>
  warning(
    'MultiplePodDisruptionBudgets',
    `Pod "${pod.metadata.namespace ?? ''}"/"${pod.metadata.name ?? ''}" matches multiple PodDisruptionBudgets.  Chose "${chosen}" arbitrarily.`,
  );

/** What is worth saying about the way a budget counts; nothing for a budget in pods that names no group. */
export function modeEvents({ families, mode }: BudgetCount): Said[] {
  if (mode.fallback) {
    return [
      warning('PodGroupFallback', `Counting pods instead of pod groups: ${FALLBACKS[mode.reason] ?? mode.reason}`),
    ];
  }
  if (mode.unit === 'Pod') return [];
  const said: Said[] = [];
  if (mode.settling !== undefined) {
    const text = 'groups are counted as before, those that cannot be resolved as down, for the settling time';
    said.push(warning('PodGroupSettling', `Waiting before pods are counted: ${UNRESOLVED[mode.settling]}; ${text}`));
  }
  if (mode.reason === 'PodGroupResolutionFailed') {
    said.push(
      warning(
        'PodGroupResolutionFailed',
        'Some selected pods name a group that cannot be resolved; it counts as unhealthy',
      ),
    );
  }
  if (mode.individual > 0) {
    said.push(warning('MixedPodGroups', `${mode.individual} selected pods belong to no pod group with a minimum`));
  }
  if (families > 1) {
    said.push(
      warning(
        'MultiplePodGroupsDetected',
        `The numbers add up ${families} kinds of pod groups; consider one budget for each`,
      ),
    );
  }
  return said;
}

const FALLBACKS: Readonly<Record<string, string>> = {
  ...UNRESOLVED,
  UnknownGroupBy: 'the annotation policy.quorate.dev/group-by has a value that is not understood',
};

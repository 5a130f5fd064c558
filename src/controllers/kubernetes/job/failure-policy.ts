import type { PodFailurePolicy, PodFailurePolicyOnExitCodesRequirement } from '../../../api/generated/batch-v1.ts';
import type { ContainerStatus, Pod } from '../../../api/generated/core-v1.ts';

export interface FailureVerdict {
  /** Undefined when no rule matched. */
  readonly action: 'Ignore' | 'Count' | 'FailIndex' | 'FailJob' | undefined;
  /** Whether the failure counts towards the limits. */
  readonly counts: boolean;
  /** Why the whole Job fails, when it does. */
  readonly message?: string;
}

/** What a Job's policy says about a failed pod; the first rule that matches decides. */
export function judgeFailure(policy: PodFailurePolicy | undefined, pod: Pod): FailureVerdict {
  for (const [index, { action, onExitCodes, onPodConditions }] of (policy?.rules ?? []).entries()) {
    const named = `${pod.metadata.namespace}/${pod.metadata.name}`;
    let message: string | undefined;
    if (onExitCodes !== undefined) {
      const container = endedWith(pod, onExitCodes);
      if (container === undefined) continue;
      const code = container.state?.terminated?.exitCode;
      message = `Container ${container.name} for pod ${named} failed with exit code ${code} matching ${action} rule at index ${index}`;
    } else {
      const matched = pod.status?.conditions?.find((condition) =>
        onPodConditions?.some(({ status = 'True', type }) => condition.type === type && condition.status === status),
      );
      if (matched === undefined) continue;
      message = `Pod ${named} has condition ${matched.type} matching ${action} rule at index ${index}`;
    }
    if (action === 'Ignore') return { action, counts: false };
    if (action === 'FailJob') return { action, counts: true, message };
    if (action === 'Count' || action === 'FailIndex') return { action, counts: true };
  }
  return { action: undefined, counts: true };
}

function endedWith(
  { status }: Pod,
  { containerName, operator, values }: PodFailurePolicyOnExitCodesRequirement,
): ContainerStatus | undefined {
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  return statuses.find(({ name, state }) => {
    const code = state?.terminated?.exitCode ?? 0;
    if (code === 0 || (containerName !== undefined && containerName !== name)) return false;
    return operator === 'In' ? values.includes(code) : !values.includes(code);
  });
}

import type { CompositePodGroup } from '../api/generated/scheduling-v1alpha3.ts';
import {
  storedPodGroup,
  storedWorkload,
  validateComposite,
  validateCompositeUpdate,
  validatePodGroup,
  validatePodGroupUpdate,
  validateWorkload,
  validateWorkloadUpdate,
} from '../api/scheduling/index.ts';
import type { Issue } from '../machinery/values/index.ts';
import { allow, refuseInvalid, type ReviewRequest, type ReviewResponse } from './review.ts';

/** Checks groups where definitions of ours serve them: schemas alone cannot say what holds for them. */
export function reviewGroup({ object, oldObject, resource }: ReviewRequest): ReviewResponse {
  const issues = (ISSUES[resource.resource] ?? workloadIssues)(object, oldObject);
  return issues.length === 0 ? allow : refuseInvalid(issues);
}

type Reviewed = ReviewRequest['object'];

const ISSUES: Readonly<Record<string, (object: Reviewed, old: Reviewed) => Issue[]>> = {
  podgroups: podGroupIssues,
  compositepodgroups: compositeIssues,
  workloads: workloadIssues,
};

function compositeIssues(object: Reviewed, old: Reviewed): Issue[] {
  const composite = object as CompositePodGroup;
  const issues = validateComposite(composite);
  return old ? [...issues, ...validateCompositeUpdate(composite, old as CompositePodGroup)] : issues;
}

function podGroupIssues(object: Reviewed, old: Reviewed): Issue[] {
  const group = storedPodGroup(object as never, 'v1beta1');
  const issues = validatePodGroup(group, 'v1beta1');
  return old
    ? [...issues, ...validatePodGroupUpdate(group, storedPodGroup(old as never, 'v1beta1'), 'v1beta1')]
    : issues;
}

function workloadIssues(object: Reviewed, old: Reviewed): Issue[] {
  const workload = storedWorkload(object as never, 'v1beta1');
  const issues = validateWorkload(workload, 'v1beta1');
  return old
    ? [...issues, ...validateWorkloadUpdate(workload, storedWorkload(old as never, 'v1beta1'), 'v1beta1')]
    : issues;
}

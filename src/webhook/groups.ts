import {
  storedPodGroup,
  storedWorkload,
  validatePodGroup,
  validatePodGroupUpdate,
  validateWorkload,
  validateWorkloadUpdate,
} from '../api/scheduling/index.ts';
import { formatIssues, type Issue } from '../machinery/values/index.ts';
import { allow, refuse, type ReviewRequest, type ReviewResponse } from './review.ts';

/** Checks Workloads and PodGroups where definitions of ours serve them: schemas alone cannot say what holds for them. */
export function reviewGroup({ object, oldObject, resource }: ReviewRequest): ReviewResponse {
  const issues =
    resource.resource === 'podgroups' ? podGroupIssues(object, oldObject) : workloadIssues(object, oldObject);
  if (issues.length === 0) return allow;
  const causes = issues.map(({ message, path, rule }) => ({ reason: rule, message, field: path }));
  return refuse({ code: 422, reason: 'Invalid', message: formatIssues(issues), details: { causes } });
}

type Reviewed = ReviewRequest['object'];

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

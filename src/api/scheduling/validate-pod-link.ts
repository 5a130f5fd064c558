import {
  checkDnsLabel,
  checkDnsSubdomain,
  type FieldPath,
  forbidden,
  invalid,
  type Issue,
  required,
  validateName,
} from '../../machinery/values/index.ts';
import type { PodSpec } from '../generated/core-v1.ts';

/** The pod fields that name a group, in all their shapes. Whether the group exists is nobody's business here. */
export function validateGroupLinks(path: FieldPath, spec: PodSpec): Issue[] {
  const issues: Issue[] = [];
  const { evictionResponders, schedulingGroup, workload, workloadRef, workloadReference } = spec;
  if (schedulingGroup !== undefined) {
    const at = path.child('schedulingGroup');
    const name = schedulingGroup.podGroupName;
    if (name === undefined || name === null) {
      issues.push(required(at, 'must specify one of: `podGroupName`'));
    } else issues.push(...validateName(at.child('podGroupName'), name, checkDnsSubdomain));
    if ((evictionResponders?.length ?? 0) > 0) {
      issues.push(forbidden(at, 'may not be set when `evictionResponders` is set'));
    }
  }
  if (workloadRef !== undefined) {
    const at = path.child('workloadRef');
    const { name, podGroup, podGroupName, podGroupReplicaKey } = workloadRef;
    if (!name) issues.push(required(at.child('name')));
    else issues.push(...validateName(at.child('name'), name, checkDnsSubdomain));
    if (!podGroup && !podGroupName) issues.push(required(at.child('podGroup')));
    if (podGroup && podGroupName) {
      issues.push(invalid(at, '{podGroup, podGroupName}', 'must specify exactly one of: `podGroup`, `podGroupName`'));
    }
    if (podGroup) issues.push(...validateName(at.child('podGroup'), podGroup, checkDnsLabel));
    if (podGroupName) issues.push(...validateName(at.child('podGroupName'), podGroupName, checkDnsSubdomain));
    if (podGroupReplicaKey) {
      issues.push(...validateName(at.child('podGroupReplicaKey'), podGroupReplicaKey, checkDnsLabel));
    }
  }
  // An empty name in the two unshipped shapes stands for no group.
  for (const [field, link] of Object.entries({ workload, workloadReference })) {
    if (link?.name) issues.push(...validateName(path.child(field, 'name'), link.name, checkDnsSubdomain));
    if (link?.podGroup) issues.push(...validateName(path.child(field, 'podGroup'), link.podGroup, checkDnsLabel));
  }
  return issues;
}

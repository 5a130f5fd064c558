import type { KubeObject } from '../../api/resource.ts';
import type { LintFacts } from './facts.ts';
import type { LintPod } from './pod-set.ts';
import { fieldsAt, fieldsOf, itemsOf } from './shapes.ts';

const GROUP = 'scheduling.k8s.io';

/**
 * Where the minimum of a pod's group is written: the PodGroup itself, the template in its Workload, or, for groups that
 * a controller makes, the object the pod comes from.
 */
export function declarationOf(
  facts: LintFacts,
  namespace: string,
  member: LintPod | undefined,
): { object: KubeObject; path: string } {
  const link = member?.facts.link;
  const podGroup = link === undefined ? undefined : facts.find(GROUP, 'PodGroup', namespace, link.podGroup);
  if (podGroup !== undefined && fieldsAt(podGroup, 'spec', 'schedulingPolicy')['gang'] !== undefined) {
    return { object: podGroup, path: 'spec.schedulingPolicy.gang.minCount' };
  }
  const known = link === undefined ? undefined : facts.lookup(namespace).podGroup(link.podGroup);
  const workload = facts.find(GROUP, 'Workload', namespace, known?.template?.workload ?? link?.workload ?? '');
  if (workload !== undefined) {
    const path = templatePath(workload, known?.template?.name ?? link?.podGroup ?? '');
    return { object: workload, path };
  }
  return podGroup !== undefined
    ? { object: podGroup, path: 'spec' }
    : { object: (member as LintPod).set.root, path: (member as LintPod).set.path };
}

/** `spec.podGroupTemplates[1].schedulingPolicy.gang.minCount`, in whichever version the Workload is written. */
function templatePath(workload: KubeObject, name: string): string {
  const spec = fieldsAt(workload, 'spec');
  for (const list of ['podGroupTemplates', 'podGroups']) {
    const position = itemsOf(spec[list]).findIndex((item) => fieldsOf(item)['name'] === name);
    if (position < 0) continue;
    const policy = fieldsOf(itemsOf(spec[list])[position])['policy'] === undefined ? 'schedulingPolicy' : 'policy';
    return `spec.${list}[${position}].${policy}.gang.minCount`;
  }
  return 'spec';
}

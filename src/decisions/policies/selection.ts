import { LWS } from '../../api/lws/types.ts';
import type { DisruptionPolicySpec, PolicyTargetRef } from '../../api/quorate/disruption-policy.ts';
import { fromLabelSelector, matches, nothing, type Selector } from '../../machinery/values/index.ts';
import { JOB_NAME, JOBSET } from '../disruption/group-markers.ts';
import type { CountedPod } from '../disruption/pod-facts.ts';

/** Whose groups a policy speaks for: those of pods with labels, or those of one object. */
export type PolicySelection =
  | { readonly selector: Selector; readonly targetRef?: undefined }
  | { readonly selector?: undefined; readonly targetRef: PolicyTargetRef };

/** Says which Workload a PodGroup was made for. */
export type WorkloadOfGroup = (podGroup: string) => string | undefined;

export function readSelection({ selector, targetRef }: DisruptionPolicySpec): PolicySelection {
  if (targetRef !== undefined) return { targetRef };
  return { selector: selector === undefined ? nothing : fromLabelSelector(selector) };
}

/**
 * A group is meant when at least one of its members that is not finished is: a label that one member lacks does not take
 * the policy away.
 */
export function selectsGroup(
  selection: PolicySelection,
  members: Iterable<CountedPod>,
  workloadOf: WorkloadOfGroup,
): boolean {
  for (const pod of members) if (selectsPod(selection, pod, workloadOf)) return true;
  return false;
}

/** Whether a pod brings its group under the policy. */
export function selectsPod(selection: PolicySelection, pod: CountedPod, workloadOf: WorkloadOfGroup): boolean {
  if (pod.phase === 'Succeeded' || pod.phase === 'Failed') return false;
  if (selection.selector !== undefined) return matches(selection.selector, pod.labels);
  const { kind, name } = selection.targetRef;
  return targetsOf(pod, workloadOf).includes(`${kind}/${name}`);
}

/** Every object that a policy can name to mean this pod's group, as `KIND/NAME`. */
export function targetsOf({ labels, link, owner }: CountedPod, workloadOf: WorkloadOfGroup): string[] {
  const targets: string[] = [];
  const add = (kind: string, name: string | undefined): void => {
    if (name) targets.push(`${kind}/${name}`);
  };
  if (link !== undefined) {
    add('PodGroup', link.podGroup);
    add('Workload', link.workload || workloadOf(link.podGroup));
  }
  add('LeaderWorkerSet', labels[LWS.name]);
  add('JobSet', labels[JOBSET.name]);
  add('Job', labels[JOB_NAME]);
  if (owner === undefined) return targets;
  const { kind, name } = owner;
  if (kind === 'Job' || kind === 'StatefulSet' || kind === 'ReplicaSet') add(kind, name);
  const hash = labels['pod-template-hash'];
  if (kind === 'ReplicaSet' && hash && name.endsWith(`-${hash}`)) add('Deployment', name.slice(0, -hash.length - 1));
  return targets;
}

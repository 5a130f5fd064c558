import type { Pod } from '../../api/generated/core-v1.ts';
import type { OwnerReference } from '../../api/generated/meta-v1.ts';
import { readPod } from '../disruption/index.ts';
import type { LintPod, PodSet } from './pod-set.ts';
import { type Fields, fieldsOf, textsOf } from './shapes.ts';

/** The fields by which a pod names its group; nothing else of a pod's spec concerns budgets. */
const LINKS = ['schedulingGroup', 'workloadRef', 'workloadReference', 'workload'] as const;

export interface Plan {
  readonly namespace: string;
  readonly name: string;
  readonly set: PodSet;
  /** The template, or the pod itself. */
  readonly template: Fields;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner?: OwnerReference | undefined;
  readonly podGroupName?: string | undefined;
}

/** The pod a template leads to, with everything well. */
export function planPod({ annotations, labels, name, namespace, owner, podGroupName, set, template }: Plan): LintPod {
  const metadata = fieldsOf(template['metadata']);
  const spec = fieldsOf(template['spec']);
  const links = Object.fromEntries(LINKS.flatMap((field) => (spec[field] === undefined ? [] : [[field, spec[field]]])));
  const pod = {
    metadata: {
      name,
      namespace,
      uid: `${namespace}/${name}`,
      labels: { ...textsOf(metadata['labels']), ...labels },
      annotations: { ...textsOf(metadata['annotations']), ...annotations },
      ...(owner && { ownerReferences: [owner] }),
    },
    spec: { containers: [], ...links, ...(podGroupName !== undefined && { schedulingGroup: { podGroupName } }) },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  } as Pod;
  return { pod, facts: readPod(pod), set };
}

export function ownerOf(apiVersion: string, kind: string, namespace: string, name: string): OwnerReference {
  return { apiVersion, kind, name, uid: `${kind}/${namespace}/${name}`, controller: true };
}

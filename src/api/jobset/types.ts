import type { JobTemplateSpec } from '../generated/batch-v1.ts';
import type { ObjectMeta } from '../generated/meta-v1.ts';
import type { ResourceType } from '../resource.ts';

/** `jobset.x-k8s.io/v1alpha2`, as far as anything here looks at it. */
export interface JobSet {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: { replicatedJobs?: ReplicatedJob[] | undefined } | undefined;
  status?: { terminalState?: string | undefined } | undefined;
}

export interface ReplicatedJob {
  name: string;
  replicas?: number | undefined;
  template?: JobTemplateSpec | undefined;
}

export const jobSetType: ResourceType<JobSet> = {
  group: 'jobset.x-k8s.io',
  version: 'v1alpha2',
  kind: 'JobSet',
  plural: 'jobsets',
  namespaced: true,
};

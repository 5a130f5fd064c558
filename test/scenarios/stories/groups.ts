/** Workloads and PodGroups in the version a host serves. */
import { servedPodGroup, servedWorkload, type SchedulingVersion } from '../../../src/api/scheduling/index.ts';
import { pod } from './host.ts';

export const workload = (version: SchedulingVersion, name: string, minCount: number): object => ({
  ...servedWorkload(
    {
      metadata: { name },
      spec: { podGroupTemplates: [{ name: 'gang', schedulingPolicy: { gang: { minCount } } }] },
    },
    version,
  ),
  kind: 'Workload',
});

export const podGroup = (version: SchedulingVersion, name: string, of: string, minCount: number): object => ({
  ...servedPodGroup(
    {
      metadata: { name },
      spec: {
        workloadRef: { workloadName: of, templateName: 'gang' },
        schedulingPolicy: { gang: { minCount } },
      },
    },
    version,
  ),
  kind: 'PodGroup',
});

export const member = (group: string, at: number | string, spec: object): object =>
  pod(`${group}-${at}`, { app: 'train' }, { schedulingGroup: { podGroupName: group }, ...spec });

export const budget = (spec: object): object => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'train' },
  spec: { selector: { matchLabels: { app: 'train' } }, ...spec },
});

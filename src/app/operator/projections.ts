import type { Pod } from '../../api/generated/core-v1.ts';
import type { KubeObject } from '../../api/resource.ts';

/** What is kept of a pod: enough to count it, a fraction of what it is. */
function slimPod(object: KubeObject): KubeObject {
  const { metadata, spec, status, ...rest } = object as Pod;
  const { managedFields: _managedFields, ...meta } = metadata;
  const { nodeName, schedulingGroup, workload, workloadRef, workloadReference } = spec ?? {};
  const slim: Pod = {
    ...rest,
    metadata: meta,
    spec: {
      containers: (spec?.containers ?? []).map(({ image, name }) => ({ name, image })),
      ...(nodeName === undefined ? {} : { nodeName }),
      ...(schedulingGroup === undefined ? {} : { schedulingGroup }),
      ...(workload === undefined ? {} : { workload }),
      ...(workloadRef === undefined ? {} : { workloadRef }),
      ...(workloadReference === undefined ? {} : { workloadReference }),
    },
    status: {
      phase: status?.phase,
      conditions: (status?.conditions ?? []).filter(({ type }) => type === 'Ready' || type === 'DisruptionTarget'),
      containerStatuses: status?.containerStatuses?.map(({ image, imageID, name, ready, restartCount }) => ({
        image,
        imageID,
        name,
        ready,
        restartCount,
      })),
    },
  };
  return slim;
}

/** Workloads are read for their size and owners; their pod templates are the bulk of them. */
function withoutTemplate(object: KubeObject): KubeObject {
  const { spec, ...rest } = object as KubeObject & { spec?: { template?: unknown } };
  if (spec === undefined) return object;
  const { template: _template, ...kept } = spec;
  return { ...rest, spec: kept } as KubeObject;
}

export const projections: ReadonlyMap<string, (object: KubeObject) => KubeObject> = new Map([
  ['pods', slimPod],
  ['replicasets.apps', withoutTemplate],
  ['deployments.apps', withoutTemplate],
  ['statefulsets.apps', withoutTemplate],
  ['replicationcontrollers', withoutTemplate],
]);

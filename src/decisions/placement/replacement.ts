import type { Container, Pod, PodTemplateSpec } from '../../api/generated/core-v1.ts';

/**
 * The pod that comes after one that goes: without node, status and finalizers, and with the sizes that its owner's
 * template has now, so that a pod which was resized in place comes back as the template says. What admission has added
 * to the pod stays.
 */
export function replacementOf(pod: Pod, template?: PodTemplateSpec): Pod {
  const { name, namespace, labels, uid, annotations, ownerReferences } = pod.metadata;
  const { nodeName: _node, ...spec } = pod.spec ?? { containers: [] };
  return {
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      labels: { ...labels, ...template?.metadata?.labels },
      ...(annotations && { annotations }),
      ...(ownerReferences && { ownerReferences }),
    },
    spec: {
      ...spec,
      containers: sized(spec.containers, template?.spec?.containers),
      ...(spec.initContainers && { initContainers: sized(spec.initContainers, template?.spec?.initContainers) }),
      ...(spec.resources && { resources: withDefaults(template?.spec?.resources ?? spec.resources) }),
    },
  };
}

function sized(containers: readonly Container[], template: readonly Container[] | undefined): Container[] {
  return containers.map((container) => {
    const resources = template?.find(({ name }) => name === container.name)?.resources ?? container.resources;
    return resources === undefined ? container : { ...container, resources: withDefaults(resources) };
  });
}

/** A limit without a request is the request, as the API server has it. */
function withDefaults<
  T extends { requests?: Record<string, string> | undefined; limits?: Record<string, string> | undefined },
>(resources: T): T {
  return resources.limits === undefined
    ? resources
    : { ...resources, requests: { ...resources.limits, ...resources.requests } };
}

import { controllerReference, type Owned } from '../../../api/core/owner.ts';
import type { Pod, PodTemplateSpec } from '../../../api/generated/core-v1.ts';
import { podType } from '../../../api/resource-types.ts';
import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import {
  type Client,
  type EventRecorder,
  isNamespaceTerminating,
  isNotFound,
} from '../../../machinery/runtime/index.ts';
import { deepClone } from '../../../machinery/values/index.ts';

export interface PodControl {
  /**
   * Creates the pod and records SuccessfulCreate or FailedCreate on the owner. Throws what the server refused with.
   * Neither the pod given, which may be given again, nor the one returned may be changed afterwards.
   */
  create(pod: Pod, owner: KubeObject): Promise<Pod>;
  /**
   * Deletes with plain DELETE and records SuccessfulDelete or FailedDelete on the owner. A pod that was already gone is
   * fine, but its deletion may never be seen: take the expectation back.
   */
  delete(pod: Pod, owner: KubeObject): Promise<'Deleted' | 'AlreadyGone'>;
}

export function createPodControl(client: Client, events: EventRecorder): PodControl {
  return {
    async create(pod, owner) {
      if (Object.keys(pod.metadata.labels ?? {}).length === 0) {
        throw new Error(`Cannot create pods of ${owner.kind} "${owner.metadata.name}": the template has no labels`);
      }
      let created: Pod;
      try {
        created = await client.create(podType, pod, { shared: true });
      } catch (error) {
        if (!isNamespaceTerminating(error)) {
          events.record(owner, 'Warning', 'FailedCreate', `Error creating: ${messageOf(error)}`);
        }
        throw error;
      }
      events.record(owner, 'Normal', 'SuccessfulCreate', `Created pod: ${created.metadata.name}`);
      return created;
    },
    async delete(pod, owner) {
      const { name = '', namespace } = pod.metadata;
      try {
        await client.delete(podType, { name, namespace });
      } catch (error) {
        if (isNotFound(error)) return 'AlreadyGone';
        events.record(owner, 'Warning', 'FailedDelete', `Error deleting: ${messageOf(error)}`);
        throw error;
      }
      events.record(owner, 'Normal', 'SuccessfulDelete', `Deleted pod: ${name}`);
      return 'Deleted';
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** A pod as a template describes it, controlled by the owner and named after it; the caller may still change it. */
export function podFromTemplate(
  template: PodTemplateSpec | undefined,
  owner: KubeObject & Owned,
  ownerType: ResourceType,
): Pod {
  const { annotations, finalizers, labels } = template?.metadata ?? {};
  return {
    metadata: {
      namespace: owner.metadata.namespace,
      generateName: generateNamePrefix(owner.metadata.name ?? ''),
      ...(labels === undefined ? {} : { labels: { ...labels } }),
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
      ownerReferences: [controllerReference(ownerType, owner)],
    },
    spec: deepClone(template?.spec),
  };
}

/** `<owner>-`, unless a name that starts so could not be a pod's. */
function generateNamePrefix(owner: string): string {
  const prefix = `${owner}-`;
  return /^[a-z0-9]([-a-z0-9.]*)$/.test(prefix) && prefix.length <= 253 ? prefix : owner;
}

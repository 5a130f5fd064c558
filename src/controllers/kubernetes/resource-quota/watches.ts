import { isPodFinished } from '../../../api/core/pod-state.ts';
import type { Pod, ResourceQuota, Service } from '../../../api/generated/core-v1.ts';
import { type KubeObject, keyOf, type ResourceType } from '../../../api/resource.ts';
import { podType, serviceType } from '../../../api/resource-types.ts';
import { type ControllerContext, Informer, type WorkQueue } from '../../../machinery/runtime/index.ts';

/** Many objects often go together; one count for all of them is enough. */
const GATHER_MS = 50;

/**
 * Recounts the quotas of a namespace when an object they count goes or gets smaller. What is created is charged by
 * admission and needs no count. A kind is followed from the first quota that names it.
 */
export class UsageWatches {
  readonly #context: ControllerContext;
  readonly #quotas: Informer<ResourceQuota>;
  readonly #queue: WorkQueue;
  readonly #followed = new Set<string>();

  constructor(context: ControllerContext, quotas: Informer<ResourceQuota>, queue: WorkQueue) {
    this.#context = context;
    this.#quotas = quotas;
    this.#queue = queue;
  }

  follow(type: ResourceType): void {
    const name = `${type.plural}.${type.group}`;
    if (this.#followed.has(name)) return;
    this.#followed.add(name);
    const { clock, client, informers, log, signal } = this.#context;
    const released = ({ metadata }: KubeObject) => this.#recount(metadata.namespace);
    if (name === 'pods.') {
      const updated = (pod: Pod, old: Pod) => {
        const ended = isPodFinished(pod) && !isPodFinished(old);
        if (ended || pod.metadata.generation !== old.metadata.generation) released(pod);
      };
      informers.of(podType).addHandler({ updated, deleted: released });
    } else if (name === 'services.') {
      const updated = (service: Service, old: Service) => {
        if (service.spec?.type !== old.spec?.type || service.spec?.ports?.length !== old.spec?.ports?.length) {
          released(service);
        }
      };
      informers.of(serviceType).addHandler({ updated, deleted: released });
    } else {
      const informer = new Informer({ client, clock, log, type, metadataOnly: true, transform: nameOnly });
      informer.addHandler({ updated: released, deleted: released });
      informer.start(signal);
    }
  }

  #recount(namespace: string | undefined): void {
    for (const quota of this.#quotas.list(namespace)) this.#queue.addAfter(keyOf(quota), GATHER_MS);
  }
}

function nameOnly({ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion } };
}

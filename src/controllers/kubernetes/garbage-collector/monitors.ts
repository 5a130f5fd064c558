import type { KubeObject, ResourceType } from '../../../api/resource.ts';
import { podType, replicaSetType } from '../../../api/resource-types.ts';
import { type ControllerContext, type DiscoveredResource, Informer } from '../../../machinery/runtime/index.ts';
import type { DependencyGraph, SeenObject, GraphWakes } from './graph.ts';

interface Monitor {
  readonly stop: () => void;
  readonly synced: Promise<void>;
}

/** Follows the metadata of every collectable resource and tells the graph. */
export class Monitors {
  readonly #context: ControllerContext;
  readonly #graph: DependencyGraph;
  readonly #wake: (wakes: GraphWakes) => void;
  readonly #running = new Map<string, Monitor>();

  constructor(context: ControllerContext, graph: DependencyGraph, wake: (wakes: GraphWakes) => void) {
    this.#context = context;
    this.#graph = graph;
    this.#wake = wake;
    context.signal.addEventListener('abort', () => this.follow([]), { once: true });
  }

  /** Starts following what is new, stops following what is no longer served. */
  follow(resources: readonly DiscoveredResource[]): void {
    const wanted = new Map(resources.map((resource) => [`${resource.plural}.${resource.group}`, resource]));
    for (const [name, monitor] of this.#running) {
      if (wanted.has(name)) continue;
      monitor.stop();
      this.#running.delete(name);
    }
    for (const [name, resource] of wanted) {
      if (!this.#running.has(name)) this.#running.set(name, this.#start(resource));
    }
  }

  async whenSynced(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ synced }) => synced));
  }

  #start(resource: DiscoveredResource): Monitor {
    const { clock, client, informers, log } = this.#context;
    const shared = [podType, replicaSetType].find(
      ({ group, plural }) => group === resource.group && plural === resource.plural,
    );
    if (shared !== undefined) {
      // Others hold these in full already: a second copy of the many would cost more than it saves.
      const informer = informers.of<KubeObject>(shared);
      const stop = informer.addHandler(this.#handler(shared));
      return { stop, synced: informer.whenSynced() };
    }
    const own = new AbortController();
    const informer = new Informer({ client, clock, log, type: resource, metadataOnly: true, transform: essentials });
    informer.addHandler(this.#handler(resource));
    informer.start(own.signal);
    return { stop: () => own.abort(), synced: informer.whenSynced() };
  }

  #handler(type: ResourceType) {
    const seen = (object: KubeObject) => this.#wake(this.#graph.observe(type, object as SeenObject));
    return {
      added: seen,
      updated: (object: KubeObject, old: KubeObject) => {
        // A name used again between two lists: the old object went unseen.
        if (object.metadata.uid !== old.metadata.uid) this.#wake(this.#graph.forget(old.metadata.uid ?? ''));
        seen(object);
      },
      deleted: ({ metadata }: KubeObject) => this.#wake(this.#graph.forget(metadata.uid ?? '')),
    };
  }
}

/** All the collector ever reads. */
function essentials({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, finalizers } = metadata;
  const { ownerReferences } = metadata as SeenObject['metadata'];
  const kept = { name, namespace, uid, resourceVersion, deletionTimestamp, finalizers, ownerReferences };
  return { apiVersion, kind, metadata: kept };
}

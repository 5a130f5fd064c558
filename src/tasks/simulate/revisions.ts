import { revisionOf } from '../../controllers/kubernetes/leader-worker-set/index.ts';
import { newRevision } from '../../controllers/shared/controller-history/index.ts';
import type { Owned } from '../../api/core/owner.ts';
import type { PodTemplateSpec } from '../../api/generated/core-v1.ts';
import { type LeaderWorkerSet, LWS } from '../../api/lws/types.ts';
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { controllerRevisionType, daemonSetType, statefulSetType } from '../../api/resource-types.ts';
import type { Client } from '../../machinery/runtime/index.ts';

/** The label of a pod that names the revision of its StatefulSet or DaemonSet. */
const POD_REVISION = 'controller-revision-hash';

type Fields = Record<string, unknown>;
type Loaded = KubeObject & { spec?: Fields; status?: Fields };

/**
 * Keeps a load from being a rollout. A snapshot holds less of a template than the cluster did, so every revision would
 * look new: here the newest one gets the name that the pods carry. What was outdated in the cluster stays so.
 */
export class LoadedRevisions {
  /** The revision that the pods of each DaemonSet name, the youngest pod's. */
  readonly #ofDaemonSets = new Map<string, { readonly hash: string; readonly created: string }>();
  /** The newest revision of each LeaderWorkerSet in the cluster, and here. */
  readonly #before = new Map<string, string>();
  readonly #now = new Map<string, string>();

  constructor(objects: readonly Loaded[]) {
    for (const { kind, metadata } of objects) {
      const { labels, namespace = '' } = metadata;
      const created = metadata.creationTimestamp ?? '';
      const owner = ownerOf(metadata);
      if (kind === 'Pod' && owner?.kind === 'DaemonSet') {
        const known = this.#ofDaemonSets.get(owner.uid);
        const hash = labels?.[POD_REVISION];
        if (hash !== undefined && (known === undefined || known.created < created)) {
          this.#ofDaemonSets.set(owner.uid, { hash, created });
        }
      }
      if (kind === 'StatefulSet' && owner?.kind === 'LeaderWorkerSet') {
        this.#before.set(`${namespace}/${owner.name}`, labels?.[LWS.revision] ?? '');
      }
    }
  }

  /** Names the newest revision of a LeaderWorkerSet as it is named here. */
  translate<T extends Loaded>(object: T): T {
    const key = `${object.metadata.namespace ?? ''}/${object.metadata.labels?.[LWS.name] ?? ''}`;
    const before = this.#before.get(key);
    const now = this.#now.get(key);
    if (before === undefined || now === undefined) return object;
    const renamed = <M extends { labels?: Record<string, string> | undefined }>(metadata: M): M =>
      metadata.labels?.[LWS.revision] === before
        ? { ...metadata, labels: { ...metadata.labels, [LWS.revision]: now } }
        : metadata;
    const template = object.spec?.['template'] as PodTemplateSpec | undefined;
    return {
      ...object,
      metadata: renamed(object.metadata),
      ...(template?.metadata && {
        spec: { ...object.spec, template: { ...template, metadata: renamed(template.metadata) } },
      }),
    };
  }

  /** Remembers what was loaded, with the revision that its pods name. */
  async record(client: Client, { kind, metadata, status }: Loaded, created: KubeObject): Promise<void> {
    const { name = '', namespace = '', uid = '' } = metadata;
    if (kind === 'LeaderWorkerSet') this.#now.set(`${namespace}/${name}`, revisionOf(created as LeaderWorkerSet));
    const revision = status?.['updateRevision'];
    if (kind === 'StatefulSet' && typeof revision === 'string' && revision !== '') {
      await this.#create(client, created, { type: statefulSetType as ResourceType, name: revision });
    }
    const hash = kind === 'DaemonSet' ? this.#ofDaemonSets.get(uid)?.hash : undefined;
    if (hash !== undefined) {
      await this.#create(client, created, { type: daemonSetType as ResourceType, name: `${name}-${hash}`, hash });
    }
  }

  async #create(
    client: Client,
    owner: KubeObject,
    { hash, name, type }: { type: ResourceType; name: string; hash?: string },
  ): Promise<void> {
    const { template = {} } = (owner as Loaded).spec ?? {};
    const hashLabel = hash === undefined ? undefined : POD_REVISION;
    const made = newRevision(owner as KubeObject & Owned, type, {
      collisionCount: 0,
      hashLabel,
      revision: 1,
      template: template as PodTemplateSpec,
    });
    const labels = { ...made.metadata.labels, ...(hash !== undefined && { [POD_REVISION]: hash }) };
    await client.create(controllerRevisionType, { ...made, metadata: { ...made.metadata, name, labels } });
  }
}

function ownerOf(metadata: object): { kind: string; name: string; uid: string } | undefined {
  const { ownerReferences } = metadata as {
    ownerReferences?: { kind: string; name: string; uid: string; controller?: boolean }[];
  };
  return ownerReferences?.find(({ controller }) => controller === true);
}

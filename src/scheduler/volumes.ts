import type { PersistentVolume, PersistentVolumeClaim } from '../api/generated/core-v1.ts';
import type { StorageClass } from '../api/generated/storage-v1.ts';
import { builtinType } from '../api/registry.ts';
import { keyOf, type ResourceType } from '../api/resource.ts';
import type { Cluster } from '../decisions/gang/index.ts';
import { type Client, type Informers, isNotFound } from '../machinery/runtime/index.ts';
import type { KnownPod } from './pod-book.ts';

const claimType = builtinType('PersistentVolumeClaim') as ResourceType<PersistentVolumeClaim>;
const volumeType = builtinType('PersistentVolume') as ResourceType<PersistentVolume>;
const classType = builtinType('StorageClass', 'storage.k8s.io') as ResourceType<StorageClass>;

const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

/** Pods follow their volumes, and volumes that are made for their first pod follow the pod. */
export class Volumes {
  readonly #client: Client;
  readonly #informers: Informers;

  constructor(client: Client, informers: Informers) {
    this.#client = client;
    this.#informers = informers;
  }

  /** Keeps the cluster informed where bound volumes can be used. */
  follow(cluster: Cluster, onChange: () => void): Promise<unknown> {
    const claims = this.#informers.of(claimType);
    const volumes = this.#informers.of(volumeType);
    const classes = this.#informers.of(classType);
    const book = cluster.volumes;
    book.known = true;
    book.judgesUnbound = false;
    const keep = <T>(set: (object: T) => void, drop: (object: T) => void) => {
      const changed = (object: T): void => {
        set(object);
        onChange();
      };
      return { added: changed, updated: changed, deleted: drop };
    };
    claims.addHandler(
      keep<PersistentVolumeClaim>(
        (claim) => book.setClaim(claim),
        (claim) => book.claims.delete(keyOf(claim)),
      ),
    );
    volumes.addHandler(
      keep<PersistentVolume>(
        (volume) => book.setVolume(volume),
        ({ metadata }) => book.volumes.delete(metadata.name ?? ''),
      ),
    );
    classes.addHandler(
      keep<StorageClass>(
        (found) => book.classes.set(found.metadata.name ?? '', found),
        ({ metadata }) => book.classes.delete(metadata.name ?? ''),
      ),
    );
    return Promise.all([claims.whenSynced(), volumes.whenSynced(), classes.whenSynced()]);
  }

  /** Tells the provisioner of claims that wait for their first pod where that pod goes. */
  async announce({ facts, node }: KnownPod): Promise<void> {
    for (const name of facts.claims) {
      const key = { namespace: facts.namespace, name };
      const claim = this.#informers.of(claimType).get(key);
      if (claim === undefined || claim.spec?.volumeName || claim.metadata.annotations?.[SELECTED_NODE]) continue;
      const className = claim.spec?.storageClassName;
      const found = className ? this.#informers.of(classType).get({ name: className }) : undefined;
      if (found?.volumeBindingMode !== 'WaitForFirstConsumer') continue;
      const body = { metadata: { annotations: { [SELECTED_NODE]: node } } };
      try {
        await this.#client.patch(claimType, key, { type: 'merge', body });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
  }
}

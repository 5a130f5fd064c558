import type { PersistentVolume, PersistentVolumeClaim } from '../api/generated/core-v1.ts';
import type { StorageClass } from '../api/generated/storage-v1.ts';
import { builtinType } from '../api/registry.ts';
import { keyOf, type ResourceType } from '../api/resource.ts';
import { type Cluster, volumeTerms } from '../decisions/gang/index.ts';
import { type Client, type InformerSet, isNotFound } from '../machinery/runtime/index.ts';
import type { KnownPod } from './pod-book.ts';

const claimType = builtinType('PersistentVolumeClaim') as ResourceType<PersistentVolumeClaim>;
const volumeType = builtinType('PersistentVolume') as ResourceType<PersistentVolume>;
const classType = builtinType('StorageClass', 'storage.k8s.io') as ResourceType<StorageClass>;

const SELECTED_NODE = 'volume.kubernetes.io/selected-node';

/** Pods follow their volumes, and volumes that are made for their first pod follow the pod. */
export class Volumes {
  readonly #client: Client;
  readonly #informers: InformerSet;

  constructor(client: Client, informers: InformerSet) {
    this.#client = client;
    this.#informers = informers;
  }

  /** Keeps the cluster informed where bound volumes can be used. */
  follow(cluster: Cluster, onChange: () => void): Promise<unknown> {
    const claims = this.#informers.of(claimType);
    const volumes = this.#informers.of(volumeType);
    const classes = this.#informers.of(classType);
    const review = (claim: PersistentVolumeClaim): void => {
      const bound = claim.spec?.volumeName;
      const volume = bound ? volumes.get({ name: bound }) : undefined;
      const terms = volume && volumeTerms(volume);
      if (terms === undefined) cluster.volumeTerms.delete(keyOf(claim));
      else cluster.volumeTerms.set(keyOf(claim), terms);
      onChange();
    };
    claims.addHandler({
      added: review,
      updated: review,
      deleted: (claim) => {
        cluster.volumeTerms.delete(keyOf(claim));
      },
    });
    const reviewVolume = ({ spec }: PersistentVolume): void => {
      const { name, namespace } = spec?.claimRef ?? {};
      const claim = name === undefined ? undefined : claims.get({ namespace, name });
      if (claim !== undefined) review(claim);
    };
    volumes.addHandler({ added: reviewVolume, updated: reviewVolume });
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

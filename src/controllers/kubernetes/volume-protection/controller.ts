import type { PersistentVolume, PersistentVolumeClaim, Pod } from '../../../api/generated/core-v1.ts';
import { isPodFinished } from '../../../api/core/pod-state.ts';
import { persistentVolumeClaimType, persistentVolumeType, podType } from '../../../api/resource-types.ts';
import { keyOf, type ResourceType } from '../../../api/resource.ts';
import { type Client, defineController, listAll, settled, watch } from '../../../machinery/runtime/index.ts';
import { claimsOf, holds } from './in-use.ts';

const CLAIM_FINALIZER = 'kubernetes.io/pvc-protection';
const VOLUME_FINALIZER = 'kubernetes.io/pv-protection';

type Protected = PersistentVolume | PersistentVolumeClaim;

/** Something to be done: the finalizer is missing, or it is what a deletion waits for. */
function needsLook({ metadata }: Protected, finalizer: string): boolean {
  const has = metadata.finalizers?.includes(finalizer) ?? false;
  return metadata.deletionTimestamp ? has : !has;
}

const keysOf = (pod: Pod): string[] => claimsOf(pod).map((name) => `${pod.metadata.namespace}/${name}`);

/** Keeps claims that are being deleted until no pod on a node uses them any more. Keys are claims. */
export const claimProtectionController = defineController({
  name: 'persistentvolumeclaim-protection',
  deps: ({ client, informers }) => ({
    client,
    claims: informers.of(persistentVolumeClaimType),
    pods: informers.of(podType),
  }),
  watches({ claims, pods }) {
    const look = (claim: PersistentVolumeClaim) => (needsLook(claim, CLAIM_FINALIZER) ? keyOf(claim) : undefined);
    return [
      watch(claims, { added: look, updated: look }),
      watch(pods, {
        // Another pod of the name may be what took the place of the one that held the claim.
        updated: (pod, old) => {
          if (old.metadata.uid !== pod.metadata.uid) return [...keysOf(pod), ...keysOf(old)];
          return isPodFinished(pod) || pod.metadata.deletionTimestamp ? keysOf(pod) : undefined;
        },
        deleted: keysOf,
      }),
    ];
  },
  async reconcile({ claims, client, pods }, key) {
    const claim = claims.get(key);
    if (claim === undefined || !needsLook(claim, CLAIM_FINALIZER)) return settled;
    if (claim.metadata.deletionTimestamp && (await isUsed(client, pods.list(), claim))) return settled;
    await change(client, persistentVolumeClaimType, claim, CLAIM_FINALIZER);
    return settled;
  },
});

/** The cache may not know a pod yet that is on its node already: before a claim goes, the API is asked. */
async function isUsed(client: Client, known: readonly Pod[], claim: PersistentVolumeClaim): Promise<boolean> {
  const { namespace } = claim.metadata;
  const here = known.filter(({ metadata }) => metadata.namespace === namespace);
  if (here.some((pod) => holds(pod, claim))) return true;
  const live = await listAll(client, podType, namespace);
  return live.some((pod) => holds(pod, claim));
}

/** Keeps volumes that are being deleted until they are bound to no claim any more. Keys are volumes. */
export const volumeProtectionController = defineController({
  name: 'persistentvolume-protection',
  deps: ({ client, informers }) => ({ client, volumes: informers.of(persistentVolumeType) }),
  watches({ volumes }) {
    const look = (volume: PersistentVolume) => (needsLook(volume, VOLUME_FINALIZER) ? keyOf(volume) : undefined);
    return [watch(volumes, { added: look, updated: look })];
  },
  async reconcile({ client, volumes }, key) {
    const volume = volumes.get(key);
    if (volume === undefined || !needsLook(volume, VOLUME_FINALIZER)) return settled;
    if (volume.metadata.deletionTimestamp && volume.status?.phase === 'Bound') return settled;
    await change(client, persistentVolumeType, volume, VOLUME_FINALIZER);
    return settled;
  },
});

/** Takes the finalizer from what is being deleted, and gives it to what came without. */
async function change<T extends Protected>(
  client: Client,
  type: ResourceType<T>,
  object: T,
  finalizer: string,
): Promise<void> {
  const finalizers = object.metadata.finalizers ?? [];
  const next = object.metadata.deletionTimestamp
    ? finalizers.filter((one) => one !== finalizer)
    : [...finalizers, finalizer];
  await client.update(type, { ...object, metadata: { ...object.metadata, finalizers: next } });
}

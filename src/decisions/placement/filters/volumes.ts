import { compareQuantities, fromLabelSelector, matches, parseUnits } from '../../../machinery/values/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import {
  type ClaimFacts,
  type VolumeBook,
  type VolumeFacts,
  volumeReaches,
  ZONE_LABELS,
} from '../cluster/volume-book.ts';
import type { Constraint } from './constraint.ts';

/** What is known of a pod's volumes before nodes are looked at. */
export interface VolumeQuestion {
  readonly book: VolumeBook;
  readonly claims: readonly ClaimFacts[];
  /** Refuses every node. */
  readonly everywhere: Constraint | undefined;
  /** A claim that a volume has to be made for. */
  readonly provisions: boolean;
}

export function askVolumes(pod: PodFacts, { volumes: book }: Cluster): VolumeQuestion | undefined {
  if (pod.claims.length === 0 || !book.known) return undefined;
  const claims: ClaimFacts[] = [];
  let everywhere: Constraint | undefined;
  for (const name of pod.claims) {
    const claim = book.claimOf(pod.pod, name);
    everywhere ??= refusedEverywhere(book, pod, name, claim);
    if (claim !== undefined) claims.push(claim);
  }
  return { book, claims, everywhere, provisions: claims.some(({ state }) => state === 'Unbound') };
}

function refusedEverywhere(
  book: VolumeBook,
  pod: PodFacts,
  name: string,
  claim: ClaimFacts | undefined,
): Constraint | undefined {
  const refused = (cause: 'Unbound' | 'Lost' | 'Missing' | 'ClassMissing'): Constraint => ({
    filter: 'VolumeBinding',
    claim: name,
    cause,
  });
  if (claim?.onlyOnePod === true) {
    const holder = book.userOf(claim.key, pod.uid);
    if (holder !== undefined) return { filter: 'VolumeRestrictions', claim: name, holder };
  }
  if (!book.judgesUnbound) return undefined;
  if (claim === undefined) return refused('Missing');
  if (claim.state === 'Lost') return refused('Lost');
  if (claim.state === 'Leaving') return refused('Missing');
  if (claim.state === 'Bound') return book.volumes.has(claim.volumeName ?? '') ? undefined : refused('Missing');
  const found = book.classes.get(claim.className);
  if (found === undefined) return refused(claim.className === '' ? 'Unbound' : 'ClassMissing');
  return found.volumeBindingMode === 'WaitForFirstConsumer' ? undefined : refused('Unbound');
}

/** A disk that somebody on the node has, and that the two cannot share. */
export function checkDisks({ disks }: PodFacts, node: NodeFacts): Constraint | undefined {
  if (disks.length === 0) return undefined;
  for (const other of node.pods.values()) {
    for (const theirs of other.disks) {
      const clash = disks.find(({ id, readOnly }) => id === theirs.id && !(readOnly && theirs.readOnly));
      if (clash !== undefined) return { filter: 'VolumeRestrictions', holder: `${other.namespace}/${other.name}` };
    }
  }
  return undefined;
}

/** What keeps the pod's volumes from this node. */
export function checkVolumes(
  { book, claims, everywhere }: VolumeQuestion,
  pod: PodFacts,
  node: NodeFacts,
): Constraint | undefined {
  if (everywhere !== undefined) return everywhere;
  const limit = checkLimits(book, claims, pod, node);
  if (limit !== undefined) return limit;
  for (const claim of claims) {
    if (claim.state !== 'Bound') continue;
    const volume = book.volumes.get(claim.volumeName ?? '');
    if (volume !== undefined && !volumeReaches(volume, node.labels)) {
      return { filter: 'VolumeBinding', claim: claim.name, cause: 'NodeAffinity' };
    }
  }
  for (const claim of claims) {
    const cause = claim.state === 'Unbound' && book.judgesUnbound ? checkUnbound(book, claim, node) : undefined;
    if (cause !== undefined) return { filter: 'VolumeBinding', claim: claim.name, cause };
  }
  for (const { volumeName } of claims) {
    const volume = book.volumes.get(volumeName ?? '');
    const key = volume && outsideZone(volume, node);
    if (volume !== undefined && key !== undefined) return { filter: 'VolumeZone', volume: volume.name, key };
  }
  return undefined;
}

function outsideZone({ zones }: VolumeFacts, { labels }: NodeFacts): string | undefined {
  if (zones.length === 0 || ZONE_LABELS.every(([key]) => labels[key] === undefined)) return undefined;
  for (const [key, values] of zones) {
    const current = ZONE_LABELS.find(([old]) => old === key)?.[1] ?? key;
    const value = labels[key] ?? labels[current];
    if (value === undefined || !values.has(value)) return key;
  }
  return undefined;
}

function checkUnbound(
  book: VolumeBook,
  claim: ClaimFacts,
  node: NodeFacts,
): 'NodeAffinity' | 'Topology' | 'Capacity' | 'ClassMissing' | undefined {
  if (claim.selectedNode) return claim.selectedNode === node.name ? undefined : 'NodeAffinity';
  if (findVolume(book, claim, node) !== undefined) return undefined;
  const storage = book.classes.get(claim.className);
  if (storage === undefined) return 'ClassMissing';
  if (storage.provisioner === '' || storage.provisioner === 'kubernetes.io/no-provisioner') return 'NodeAffinity';
  const topologies = storage.allowedTopologies ?? [];
  const reaches = topologies.some(({ matchLabelExpressions = [] }) =>
    matchLabelExpressions.every(({ key, values }) => values.includes(node.labels[key] ?? '')),
  );
  if (topologies.length > 0 && !reaches) return 'Topology';
  if (!book.tracked.has(storage.provisioner)) return undefined;
  const size = claim.spec?.resources?.requests?.['storage'] ?? '0';
  const enough = book.capacities.some(
    ({ capacity, maximumVolumeSize, nodeTopology, storageClassName }) =>
      storageClassName === claim.className &&
      matches(fromLabelSelector(nodeTopology), node.labels) &&
      compareQuantities(maximumVolumeSize ?? capacity ?? '0', size) >= 0,
  );
  return enough ? undefined : 'Capacity';
}

/** The smallest volume that is free and will do for the claim on this node. */
export function findVolume(book: VolumeBook, { className, key, spec }: ClaimFacts, node: NodeFacts) {
  const asked = parseUnits(spec?.resources?.requests?.['storage'] ?? '0');
  const selector = spec?.selector === undefined ? undefined : fromLabelSelector(spec.selector);
  let best: { volume: VolumeFacts; size: number } | undefined;
  for (const volume of book.volumes.values()) {
    const { metadata, spec: offered, status } = volume.volume;
    if ((offered?.storageClassName ?? '') !== className || metadata.deletionTimestamp) continue;
    const reference = offered?.claimRef;
    if (reference !== undefined && `${reference.namespace ?? ''}/${reference.name ?? ''}` !== key) continue;
    if (reference === undefined && status?.phase !== undefined && status.phase !== 'Available') continue;
    const picked = book.pickedBy(volume.name);
    if (picked !== undefined && picked !== key) continue;
    const modes = offered?.accessModes ?? [];
    if (!(spec?.accessModes ?? []).every((mode) => modes.includes(mode))) continue;
    if ((spec?.volumeMode ?? 'Filesystem') !== (offered?.volumeMode ?? 'Filesystem')) continue;
    if (selector !== undefined && !matches(selector, metadata.labels)) continue;
    const size = parseUnits(offered?.capacity?.['storage'] ?? '0');
    if (size < asked || !volumeReaches(volume, node.labels)) continue;
    if (best === undefined || size < best.size || (size === best.size && volume.name < best.volume.name)) {
      best = { volume, size };
    }
  }
  return best?.volume;
}

/** Volumes of drivers, as `driver^handle`, that a pod needs on its node. */
function driverVolumes(book: VolumeBook, claims: readonly ClaimFacts[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const { className, key, volumeName } of claims) {
    const volume = volumeName === undefined ? undefined : book.volumes.get(volumeName);
    const driver = volume === undefined ? book.classes.get(className)?.provisioner : volume.driver;
    if (driver === undefined || driver === '') continue;
    const handles = found.get(driver) ?? new Set<string>();
    found.set(driver, handles.add(volume === undefined ? `claim ${key}` : volume.handle));
  }
  return found;
}

function checkLimits(
  book: VolumeBook,
  claims: readonly ClaimFacts[],
  pod: PodFacts,
  node: NodeFacts,
): Constraint | undefined {
  const asked = driverVolumes(book, claims);
  const drivers = asked.size === 0 ? undefined : book.nodes.get(node.name)?.spec?.drivers;
  if (drivers === undefined) return undefined;
  for (const [driver, handles] of asked) {
    const listed = drivers.find(({ name }) => name === driver);
    if (listed === undefined) {
      if (node.needsDriver) return { filter: 'NodeVolumeLimits', driver, asked: handles.size, free: 0 };
      continue;
    }
    const limit = listed.allocatable?.count;
    if (limit === undefined) continue;
    const there = new Set([...(book.attached.get(node.name) ?? [])].filter((one) => one.startsWith(`${driver}^`)));
    for (const other of node.pods.values()) {
      if (other.claims.length === 0 || other.uid === pod.uid) continue;
      const theirs = other.claims.flatMap((name) => book.claimOf(other.pod, name) ?? []);
      for (const handle of driverVolumes(book, theirs).get(driver) ?? []) there.add(`${driver}^${handle}`);
    }
    const fresh = [...handles].filter((handle) => !there.has(`${driver}^${handle}`)).length;
    if (fresh > 0 && there.size + fresh > limit) {
      return { filter: 'NodeVolumeLimits', driver, asked: fresh, free: Math.max(0, limit - there.size) };
    }
  }
  return undefined;
}

import { controllerOf } from '../../../api/core/owner.ts';
import { isPodActive, isPodFinished, isPodReady, podCondition } from '../../../api/core/pod-state.ts';
import type { Node, Pod } from '../../../api/generated/core-v1.ts';
import { isFinished } from '../../../api/quorate/maintenance.ts';
import { readPod } from '../../../decisions/disruption/index.ts';
import type { PodDeparture, DisruptionRecorder, DrainOfNode, GroupLook } from '../../../decisions/history/index.ts';
import type { Clock } from '../../../machinery/runtime/index.ts';
import { BY_OWNER, type SeenThings, type Sighting } from './seen.ts';

/** A pod on its own that went, and whose replacement is waited for. */
interface Single {
  readonly namespace: string;
  readonly name: string;
  readonly ownerUid: string | undefined;
  /** Ready pods of its owner, with it. */
  readonly ready: number;
}

const GONE: GroupLook = { isWhole: false, going: 0, ready: 0, together: false, isRemoved: false };

/**
 * Follows pods, event by event: which begin to go, which are lost, and what that does to their groups at that moment. The
 * index has every event before this hears of it. What has to be asked of the API is left to whoever takes the sightings.
 */
export class PodTracker {
  readonly #things: SeenThings;
  readonly #recorder: DisruptionRecorder;
  readonly #clock: Clock;
  /** The groups of pods that are not on their own. */
  readonly #groups = new Map<string, string>();
  /** The members of each, under one copy of its name. */
  readonly #members = new Map<string, { readonly group: string; readonly keys: Set<string> }>();
  /** Pods that have been seen to go, by uid. */
  readonly #going = new Set<string>();
  /** What says which pods belong together, as it was looked at last; by namespace. */
  readonly #revisions = new Map<string, number>();
  readonly #singles = new Map<string, Single>();
  readonly #sightings: Sighting[] = [];
  /** Groups whose owners are gone for good. */
  readonly removed = new Set<string>();
  /** Pods on their own whose owners have all they want without them. */
  readonly satisfied = new Set<string>();
  #count = 0;
  #sum = 0;

  constructor(things: SeenThings, recorder: DisruptionRecorder, clock: Clock) {
    this.#things = things;
    this.#recorder = recorder;
    this.#clock = clock;
  }

  takeSightings(): Sighting[] {
    return this.#sightings.splice(0);
  }

  giveBack(sightings: readonly Sighting[]): void {
    this.#sightings.unshift(...sightings);
  }

  /** How many pods there are, and a sum over their uids. */
  get census(): string {
    return `${this.#count}-${this.#sum.toString(16)}`;
  }

  /** The group of a pod that is there. */
  groupOf(namespace: string, name: string): string | undefined {
    const around = this.#things.index.groupAround(namespace, name);
    return around && `${namespace}/${around.group}`;
  }

  /** The group a pod would be in that is no longer there, as far as it says so itself. */
  groupOfGone(pod: Pod): string {
    const { name = '', namespace = '' } = pod.metadata;
    const { index } = this.#things;
    const now = index.pod(namespace, name);
    index.setPod(readPod(pod));
    const { group = `Pod/${name}` } = index.groupAround(namespace, name) ?? {};
    if (now === undefined) index.deletePod(namespace, name);
    else index.setPod(now);
    return `${namespace}/${group}`;
  }

  added(pod: Pod): void {
    const { namespace = '', uid = '' } = pod.metadata;
    this.#enter(pod, 1);
    if (isGoing(pod)) this.#going.add(uid);
    if (!this.#revisions.has(namespace)) this.#revisions.set(namespace, this.#things.index.groupRevision(namespace));
    this.#track(pod);
    this.#lookAt(pod);
  }

  /** What says which pods belong together comes before and after them; a namespace is looked at once for many of them. */
  regroup(): void {
    const { index, pods } = this.#things;
    for (const [namespace, known] of this.#revisions) {
      const revision = index.groupRevision(namespace);
      if (revision === known) continue;
      const all = pods.list(namespace);
      if (all.length === 0) this.#revisions.delete(namespace);
      else this.#revisions.set(namespace, revision);
      for (const pod of all) {
        this.#track(pod);
        this.#lookAt(pod);
      }
    }
  }

  updated(pod: Pod, old: Pod): void {
    if (pod.metadata.uid !== old.metadata.uid) {
      this.deleted(old);
      this.added(pod);
      return;
    }
    const goes = isGoing(pod) && !isGoing(old);
    const failed = !goes && isLost(old) !== isLost(pod) && isLost(pod);
    const isUnready = isPodReady(old) && !isGoing(old) && !isPodReady(pod) && pod.status?.phase !== 'Succeeded';
    if (goes || failed || isUnready) this.#begin(old);
    if (goes) this.#going.add(pod.metadata.uid ?? '');
    this.#track(pod);
    this.#lookAt(pod);
    if (!goes && !failed && !isUnready) return;
    const { name = '', namespace = '' } = pod.metadata;
    const group = this.groupOf(namespace, name) ?? singleGroup(namespace, name);
    this.#see(goes || failed ? 'Went' : 'Lost', { pod, before: old, group });
  }

  deleted(pod: Pod): void {
    this.#enter(pod, -1);
    const { name = '', namespace = '', uid = '' } = pod.metadata;
    const key = `${namespace}/${name}`;
    const group = this.#groups.get(key);
    const isUnseen = !this.#going.delete(uid);
    if (isUnseen) this.#begin(pod);
    if (group !== undefined) {
      this.#members.get(group)?.keys.delete(key);
      this.#lookAtMembers(group);
    }
    const named = group ?? singleGroup(namespace, name);
    this.#lookAtSingles(controllerOf(pod)?.uid, named);
    if (isUnseen) this.#see('Went', { pod, before: pod, group: named });
    this.#untrack(key);
    this.#recorder.gone(uid, this.#clock.now());
  }

  /** How many Ready pods a group needs, by any of its members. */
  neededBy(group: string): number {
    const [key = ''] = this.#members.get(group)?.keys ?? [];
    const [namespace = '', name = ''] = key.split('/');
    return this.#things.index.groupAround(namespace, name)?.needed ?? 1;
  }

  /** While another keeps the record: forgets what was seen, and what is whole again. */
  idle(): void {
    this.#sightings.length = 0;
    this.lookAtOpen();
    this.#recorder.tick(this.#clock.now(), () => false);
  }

  hasMembers(group: string): boolean {
    return this.#members.has(group);
  }

  /** A group at this moment, for the record. */
  #lookAt(pod: Pod): void {
    const { name = '', namespace = '' } = pod.metadata;
    const group = this.#groups.get(`${namespace}/${name}`);
    if (group !== undefined) this.#lookAtUnit(group, namespace, name);
    this.#lookAtSingles(controllerOf(pod)?.uid, group ?? singleGroup(namespace, name));
  }

  /** Looks again at what is down: time, or its owner, may have changed it. */
  lookAtOpen(): void {
    const readyOf = this.#counting();
    for (const group of this.#recorder.open) {
      const single = this.#singles.get(group);
      if (single !== undefined) this.#lookAtSingle(group, single, readyOf);
      else this.#lookAtMembers(group);
    }
    for (const group of this.#singles.keys()) {
      if (this.#recorder.isOpen(group)) continue;
      this.#singles.delete(group);
      this.removed.delete(group);
      this.satisfied.delete(group);
      this.#recorder.forget(group);
    }
  }

  /** Takes up an outage that this process did not see begin. `ready`: how many pods its owner had with it. */
  resume(group: string, ownerUid: string | undefined, ready?: number): void {
    const [namespace = '', kind, name = ''] = group.split('/');
    if (kind !== 'Pod') return;
    const wanted = ready ?? (ownerUid === undefined ? 0 : this.readyOf(ownerUid) + 1);
    this.#singles.set(group, { namespace, name, ownerUid, ready: wanted });
  }

  #enter({ metadata }: Pod, by: 1 | -1): void {
    this.#count += by;
    this.#sum = (this.#sum + by * uidNumber(metadata.uid ?? '')) >>> 0;
  }

  #track(pod: Pod): void {
    const { name = '', namespace = '' } = pod.metadata;
    const around = this.#things.index.groupAround(namespace, name);
    if (around === undefined) return;
    const key = `${namespace}/${name}`;
    const known = this.#groups.get(key);
    const group = around.isSingle ? undefined : `${namespace}/${around.group}`;
    if (known === group) return;
    this.#untrack(key);
    if (group === undefined) return;
    const members = this.#members.get(group) ?? { group, keys: new Set() };
    members.keys.add(key);
    this.#members.set(members.group, members);
    this.#groups.set(key, members.group);
  }

  #untrack(key: string): void {
    const group = this.#groups.get(key);
    if (group === undefined) return;
    this.#groups.delete(key);
    const members = this.#members.get(group);
    members?.keys.delete(key);
    if (members?.keys.size !== 0) return;
    this.#members.delete(group);
    if (!this.#recorder.isOpen(group)) this.#recorder.forget(group);
  }

  /** Before a pod goes: pods on their own are too many to be looked at while nothing happens to them. */
  #begin(pod: Pod): void {
    const { name = '', namespace = '' } = pod.metadata;
    if (this.#groups.has(`${namespace}/${name}`) || !isPodReady(pod) || isGoing(pod)) return;
    const ownerUid = controllerOf(pod)?.uid;
    // The caches have the event already: the pod is no longer among its owner's.
    const ready = ownerUid === undefined ? 0 : this.readyOf(ownerUid) + 1;
    const group = singleGroup(namespace, name);
    this.#singles.set(group, { namespace, name, ownerUid, ready });
    this.#recorder.look(group, { ...GONE, isWhole: true, ready: 1 }, this.#clock.now());
  }

  #lookAtUnit(group: string, namespace: string, name: string): void {
    const around = this.#things.index.groupAround(namespace, name);
    if (around === undefined) return;
    const going = around.members.filter(({ deletionTimestamp }) => deletionTimestamp !== undefined).length;
    const { isWhole, together, up } = around;
    this.#recorder.look(group, { isWhole, going, ready: up, together, isRemoved: false }, this.#clock.now());
  }

  /** By any of its members; with none left nothing is whole. */
  #lookAtMembers(group: string): void {
    const [key] = this.#members.get(group)?.keys ?? [];
    if (key === undefined) {
      const isRemoved = this.removed.has(group) || this.satisfied.has(group);
      this.#recorder.look(group, { ...GONE, isRemoved }, this.#clock.now());
      return;
    }
    this.removed.delete(group);
    this.satisfied.delete(group);
    const [namespace = '', name = ''] = key.split('/');
    this.#lookAtUnit(group, namespace, name);
  }

  #lookAtSingles(ownerUid: string | undefined, own: string): void {
    if (this.#singles.size === 0) return;
    const readyOf = this.#counting();
    for (const [group, single] of this.#singles) {
      const isOfOwner = ownerUid !== undefined && single.ownerUid === ownerUid;
      if (group === own || isOfOwner) this.#lookAtSingle(group, single, readyOf);
    }
  }

  #lookAtSingle(group: string, single: Single, readyOf: (ownerUid: string) => number): void {
    const { name, namespace, ownerUid, ready } = single;
    const again = this.#things.index.pod(namespace, name);
    const isUp = again !== undefined && again.ready && again.deletionTimestamp === undefined;
    const isReplaced = ownerUid !== undefined && readyOf(ownerUid) >= ready;
    const isWhole = isUp || isReplaced || this.satisfied.has(group);
    const isRemoved = !isWhole && (this.removed.has(group) || (ownerUid === undefined && again === undefined));
    this.#recorder.look(group, { ...GONE, isWhole, ready: isWhole ? 1 : 0, isRemoved }, this.#clock.now());
  }

  /** Counts the pods of each owner once. */
  #counting(): (ownerUid: string) => number {
    const counts = new Map<string, number>();
    return (ownerUid) => {
      const count = counts.get(ownerUid) ?? this.readyOf(ownerUid);
      counts.set(ownerUid, count);
      return count;
    };
  }

  /** How many pods of an owner are Ready and stay. */
  readyOf(ownerUid: string): number {
    return this.#things.pods.byIndex(BY_OWNER, ownerUid).filter((pod) => isPodActive(pod) && isPodReady(pod)).length;
  }

  #see(kind: Sighting['kind'], { before, group, pod }: { pod: Pod; before: Pod; group: string }): void {
    const { uid = '' } = pod.metadata;
    const ownerUid = controllerOf(pod)?.uid;
    const left = ownerUid === undefined ? [] : this.#things.pods.byIndex(BY_OWNER, ownerUid);
    const siblings = left.filter((one) => one.metadata.uid !== uid && isPodActive(one)).length;
    const at = this.#clock.now();
    this.#sightings.push({
      kind,
      pod,
      siblings,
      departure: describeDeparture(this.#things, { pod, before, group, at }),
    });
  }
}

export function describeDeparture(
  { maintenances, nodes }: SeenThings,
  { at, before, group, pod }: { pod: Pod; before: Pod; group: string; at: number },
): Omit<PodDeparture, 'isUnwanted'> {
  const { name = '', namespace = '', uid = '' } = pod.metadata;
  const owner = controllerOf(pod);
  const nodeName = pod.spec?.nodeName ?? '';
  const target = podCondition(pod, 'DisruptionTarget');
  return {
    namespace,
    group,
    owner: owner && `${owner.kind}/${owner.name}`,
    pod: { name, uid, node: nodeName },
    at,
    isFinished: isPodFinished(before),
    target: target?.status === 'True' ? { reason: target.reason ?? '', message: target.message ?? '' } : undefined,
    node: nodeState(nodeName === '' ? undefined : nodes.get({ name: nodeName }), nodeName),
    drain: drainOn(maintenances, nodeName),
  };
}

const NOT_READY = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];
const OFF = ['node.cloudprovider.kubernetes.io/shutdown', 'node.kubernetes.io/out-of-service'];

function nodeState(node: Node | undefined, name: string): PodDeparture['node'] {
  if (name === '') return 'Fine';
  if (node === undefined) return 'Gone';
  const taints = node.spec?.taints ?? [];
  if (taints.some(({ key }) => OFF.includes(key))) return 'Off';
  if (taints.some(({ key }) => NOT_READY.includes(key))) return 'NotReady';
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready === undefined || ready.status === 'True' ? 'Fine' : 'NotReady';
}

function drainOn(maintenances: SeenThings['maintenances'], node: string): DrainOfNode | undefined {
  if (node === '') return undefined;
  for (const one of maintenances?.list() ?? []) {
    const { metadata, spec, status } = one;
    const isOn = status?.nodes?.some(({ name, state }) => name === node && AT_WORK.has(state)) === true;
    const isObserved = spec?.source !== undefined && spec.nodes?.names?.includes(node) === true;
    if (!isFinished(one) && (isOn || isObserved)) return { name: metadata.name ?? '', driver: spec?.source?.driver };
  }
  return undefined;
}

const AT_WORK = new Set<string>(['Claimed', 'Draining', 'Drained']);

/** A 32-bit FNV-1a hash. */
function uidNumber(uid: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < uid.length; at += 1) hash = Math.imul(hash ^ uid.charCodeAt(at), 0x01000193) >>> 0;
  return hash;
}

/** A pod on its own is a group of one. */
const singleGroup = (namespace: string, name: string): string => `${namespace}/Pod/${name}`;

const isGoing = ({ metadata }: Pod): boolean => Boolean(metadata.deletionTimestamp);

/** It ended because somebody took it away, not because it was done. */
function isLost(pod: Pod): boolean {
  return pod.status?.phase === 'Failed' && podCondition(pod, 'DisruptionTarget')?.status === 'True';
}

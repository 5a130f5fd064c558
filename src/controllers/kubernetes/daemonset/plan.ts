import { isPodAvailable, isPodReady } from '../../../api/core/pod-state.ts';
import { scaledValue } from '../../../machinery/values/index.ts';
import type { Fit } from './fit.ts';
import type { DaemonSet, Node, Pod } from './kinds.ts';
import { isUpToDate, targetNode } from './template.ts';

export type DeleteReason = 'NotWanted' | 'Failed' | 'Succeeded' | 'Surplus' | 'Replaced' | 'Outdated' | 'NodeGone';

export interface DaemonPlan {
  /** Names of the nodes to create a pod for. */
  readonly create: readonly string[];
  readonly remove: readonly { readonly pod: Pod; readonly reason: DeleteReason }[];
}

export interface DaemonQuestion {
  readonly set: DaemonSet;
  readonly nodes: readonly Node[];
  readonly fit: (node: Node) => Fit;
  readonly podsByNode: ReadonlyMap<string, readonly Pod[]>;
  readonly hash: string;
  readonly now: number;
}

const isDeleting = ({ metadata }: Pod): boolean => Boolean(metadata.deletionTimestamp);

/** Bound pods first, then the oldest. */
export function byAge(a: Pod, b: Pod): number {
  const bound = Number(Boolean(b.spec?.nodeName)) - Number(Boolean(a.spec?.nodeName));
  if (bound !== 0) return bound;
  const rank = ({ metadata }: Pod): string => `${metadata.creationTimestamp ?? ''}/${metadata.name ?? ''}`;
  return rank(a) < rank(b) ? -1 : 1;
}

/** Groups pods by the node they are on or meant for; those that ended and are being removed no longer count. */
export function groupByNode(pods: readonly Pod[]): Map<string, Pod[]> {
  const groups = new Map<string, Pod[]>();
  for (const pod of pods) {
    const ended = pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded';
    const node = targetNode(pod);
    if (node === undefined || (ended && isDeleting(pod))) continue;
    const group = groups.get(node);
    if (group === undefined) groups.set(node, [pod]);
    else group.push(pod);
  }
  return groups;
}

export function surgeOf({ spec }: DaemonSet, total: number): number {
  const { rollingUpdate, type } = spec?.updateStrategy ?? {};
  return type === 'OnDelete' ? 0 : scaledValue(rollingUpdate?.maxSurge ?? 0, total, 'up');
}

/**
 * One pod on each node that should have one, none where none may stay. Pods that ended are removed so that they can
 * be created again; `mayRetry` holds back nodes whose pods fail over and over. Under a surge a node may hold an old
 * and a new pod until the new one is available.
 */
export function planPresence(question: DaemonQuestion, mayRetry: (node: string) => boolean): DaemonPlan {
  const { fit, hash, nodes, now, podsByNode, set } = question;
  const create: string[] = [];
  const remove: { pod: Pod; reason: DeleteReason }[] = [];
  const surging = surgeOf(set, 1) > 0;
  for (const node of nodes) {
    const name = node.metadata.name ?? '';
    const { mayStay, shouldRun } = fit(node);
    const pods = podsByNode.get(name);
    if (pods === undefined) {
      if (shouldRun) create.push(name);
      continue;
    }
    const staying = pods.filter((pod) => !isDeleting(pod));
    if (!mayStay) {
      remove.push(...staying.map((pod) => ({ pod, reason: 'NotWanted' as const })));
      continue;
    }
    for (const pod of staying) {
      if (pod.status?.phase === 'Failed' && mayRetry(name)) remove.push({ pod, reason: 'Failed' });
      if (pod.status?.phase === 'Succeeded') remove.push({ pod, reason: 'Succeeded' });
    }
    const running = staying
      .filter(({ status }) => status?.phase !== 'Failed' && status?.phase !== 'Succeeded')
      .toSorted(byAge);
    if (!surging) {
      remove.push(...running.slice(1).map((pod) => ({ pod, reason: 'Surplus' as const })));
    } else if (running.length === 0) {
      if (shouldRun) create.push(name);
    } else if (running.length > 1) {
      const fresh = running.filter((pod) => isUpToDate(set, pod, hash));
      const old = running.filter((pod) => !isUpToDate(set, pod, hash));
      remove.push(...[...fresh.slice(1), ...old.slice(1)].map((pod) => ({ pod, reason: 'Surplus' as const })));
      const [newest] = fresh;
      const [oldest] = old;
      const takenOver = newest !== undefined && isPodAvailable(newest, set.spec?.minReadySeconds ?? 0, now);
      if (oldest !== undefined && newest !== undefined && (!isPodReady(oldest) || takenOver)) {
        remove.push({ pod: oldest, reason: 'Replaced' });
      }
    }
  }
  const known = new Set(nodes.map(({ metadata }) => metadata.name ?? ''));
  for (const [name, pods] of podsByNode) {
    if (known.has(name)) continue;
    for (const pod of pods) if (!pod.spec?.nodeName) remove.push({ pod, reason: 'NodeGone' });
  }
  return { create, remove };
}

interface Occupancy {
  readonly fresh: Pod | undefined;
  readonly old: Pod | undefined;
}

/** The pods of a node by age of template; undefined when there are too many to tell. */
function occupancy({ hash, podsByNode, set }: DaemonQuestion, node: string): Occupancy | undefined {
  const staying = (podsByNode.get(node) ?? []).filter((pod) => !isDeleting(pod));
  const fresh = staying.filter((pod) => isUpToDate(set, pod, hash));
  const old = staying.filter((pod) => !isUpToDate(set, pod, hash));
  return fresh.length > 1 || old.length > 1 ? undefined : { fresh: fresh[0], old: old[0] };
}

/**
 * The next wave of a rolling update. Without surge: outdated pods that are unavailable go at once, available ones as
 * far as maxUnavailable allows. With surge: new pods are added beside the old as far as maxSurge allows.
 */
export function planUpdate(question: DaemonQuestion): DaemonPlan {
  const { fit, nodes, now, podsByNode, set } = question;
  const wanted = new Set(nodes.filter((node) => fit(node).shouldRun).map(({ metadata }) => metadata.name ?? ''));
  const minReady = set.spec?.minReadySeconds ?? 0;
  const isAvailable = (pod: Pod): boolean => isPodAvailable(pod, minReady, now);
  const maxSurge = surgeOf(set, wanted.size);
  const asked = scaledValue(set.spec?.updateStrategy?.rollingUpdate?.maxUnavailable ?? 1, wanted.size, 'up');
  const maxUnavailable = maxSurge === 0 ? Math.max(asked, 1) : asked;
  const everyNode = [...new Set([...podsByNode.keys(), ...wanted])];
  return maxSurge === 0
    ? replaceInPlace(question, everyNode, { isAvailable, maxUnavailable })
    : surge(question, everyNode, { isAvailable, maxSurge, wanted });
}

function replaceInPlace(
  question: DaemonQuestion,
  nodes: readonly string[],
  { isAvailable, maxUnavailable }: { isAvailable: (pod: Pod) => boolean; maxUnavailable: number },
): DaemonPlan {
  let unavailable = 0;
  const broken: Pod[] = [];
  const candidates: Pod[] = [];
  for (const node of nodes) {
    const held = occupancy(question, node);
    const { fresh, old } = held ?? {};
    if (held === undefined || (fresh === undefined) === (old === undefined)) unavailable += 1;
    else if (fresh !== undefined) unavailable += isAvailable(fresh) ? 0 : 1;
    else if (old !== undefined && isAvailable(old)) candidates.push(old);
    else if (old !== undefined) {
      broken.push(old);
      unavailable += 1;
    }
  }
  const room = Math.max(maxUnavailable - unavailable, 0);
  const remove = [...broken, ...candidates.slice(0, room)].map((pod) => ({ pod, reason: 'Outdated' as const }));
  return { create: [], remove };
}

function surge(
  question: DaemonQuestion,
  nodes: readonly string[],
  {
    isAvailable,
    maxSurge,
    wanted,
  }: { isAvailable: (pod: Pod) => boolean; maxSurge: number; wanted: ReadonlySet<string> },
): DaemonPlan {
  let surging = 0;
  const remove: { pod: Pod; reason: DeleteReason }[] = [];
  const broken: string[] = [];
  const candidates: string[] = [];
  for (const node of nodes) {
    const held = occupancy(question, node);
    if (held === undefined) {
      surging += 1;
      continue;
    }
    const { fresh, old } = held;
    if (old === undefined) continue;
    if (fresh === undefined) {
      if (!wanted.has(node)) {
        if (!isAvailable(old)) remove.push({ pod: old, reason: 'Outdated' });
      } else if (isAvailable(old)) candidates.push(node);
      else broken.push(node);
    } else if (isAvailable(fresh)) remove.push({ pod: old, reason: 'Replaced' });
    else surging += 1;
  }
  return { create: [...broken, ...candidates.slice(0, Math.max(maxSurge - surging, 0))], remove };
}

import type { HistoryOutcome, HistoryWay } from '../../api/quorate/disruption-history.ts';
import type { GivenAnswer } from './answers.ts';

/** A pod that went, as it was when that began. */
export interface PodDeparture {
  readonly namespace: string;
  /** NAMESPACE/KIND/NAME. */
  readonly group: string;
  /** KIND/NAME of its controller. */
  readonly owner: string | undefined;
  readonly pod: { readonly name: string; readonly uid: string; readonly node: string };
  readonly at: number;
  /** It had run to its end before. */
  readonly isFinished: boolean;
  /** Why it goes, as its DisruptionTarget condition says. */
  readonly target: { readonly reason: string; readonly message: string } | undefined;
  readonly node: 'Fine' | 'Gone' | 'Off' | 'NotReady';
  /** Whether its controller wanted one like it less, or makes it anew from another template. */
  readonly isUnwanted: boolean;
  /** What works on the node that the pod was on: a Maintenance, or a drain of somebody else. */
  readonly drain: DrainOfNode | undefined;
}

export interface DrainOfNode {
  readonly name: string;
  /** Of a drain that is not ours: who carries it out. */
  readonly driver: string | undefined;
}

export interface FoundCause {
  readonly outcome: HistoryOutcome;
  readonly way: HistoryWay;
  readonly voluntary: boolean;
  readonly who?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly cause?: { readonly kind: string; readonly name: string; readonly reason?: string } | undefined;
}

/** What is known of who asked for the pod of a departure. */
interface Known {
  readonly granted: GivenAnswer | undefined;
  /** An admitted delete of the last 60 s. */
  readonly deleted: GivenAnswer | undefined;
  /** Somebody of Quorate itself. */
  readonly isOurs: (who: string) => boolean;
}

const BY_TARGET: Readonly<Record<string, HistoryWay>> = {
  EvictionByEvictionAPI: 'Eviction',
  GroupEviction: 'GroupEviction',
  PlannedMaintenance: 'Maintenance',
  PreemptionByScheduler: 'Preemption',
  PreemptionByKubeScheduler: 'Preemption',
  DeletionByTaintManager: 'TaintManager',
  DeletionByDeviceTaintManager: 'DeviceTaint',
  DeletionByPodGC: 'PodGC',
  TerminationByKubelet: 'Kubelet',
};

const VOLUNTARY = new Set<HistoryWay>(['Eviction', 'GroupEviction', 'EvictionRequest', 'Maintenance', 'Preemption']);
/** Ways that budgets are asked about. */
const ASKED = new Set<HistoryWay>(['Eviction', 'GroupEviction', 'EvictionRequest', 'Maintenance']);
/** As this project's own controller of group evictions writes it. */
const WHOLE_GROUP = 'GroupEviction:';

/**
 * Why a pod went, the first that fits; undefined where that was no disruption:
 *  1. it had finished
 *  2. a grant that names it
 *  3. what its DisruptionTarget says. Components that go past evictions write it before they delete, so it says more than
 *     their delete does
 *  4. it was unwanted: a scale-down, a rollout, a Job that is done
 *  5. an admitted delete that names it
 *  6. its node is gone, off or not Ready
 *  7. nothing that is known
 */
export function causeOf(departure: PodDeparture, { deleted, granted, isOurs }: Known): FoundCause | undefined {
  const { drain, isFinished, isUnwanted, node, target } = departure;
  const named = target === undefined ? undefined : BY_TARGET[target.reason];
  if (isFinished && named === undefined) return undefined;
  if (granted !== undefined) {
    const { kind, userAgent, who } = granted;
    const way = asMaintenance(kind === 'GroupEviction' || isWholeGroup(target) ? 'GroupEviction' : 'Eviction', {
      drain,
      mayBeOurs: isOurs(who),
    });
    return { ...found(way, departure), who, ...(userAgent !== undefined && { userAgent }) };
  }
  if (named !== undefined) {
    const way = named === 'Eviction' && isWholeGroup(target) ? 'GroupEviction' : named;
    const who = ASKED.has(way) ? undefined : deleted?.who;
    return { ...found(asMaintenance(way, { drain, mayBeOurs: true }), departure), ...(who !== undefined && { who }) };
  }
  if (isUnwanted) return undefined;
  if (deleted !== undefined) {
    const { judged = false, userAgent, who } = deleted;
    const outcome = judged ? 'Granted' : 'Seen';
    const rest = { who, ...(userAgent !== undefined && { userAgent }), voluntary: judged };
    return { ...found('Delete', departure), outcome, ...rest };
  }
  return found(node === 'Fine' ? 'Unknown' : 'NodeGone', departure);
}

/** A Ready member that was lost with its pod still there. */
export function lossCause({ node, pod }: PodDeparture): FoundCause {
  return found(node === 'Fine' ? 'Unknown' : 'NodeGone', { node, pod, drain: undefined });
}

function found(way: HistoryWay, { drain, node, pod }: Pick<PodDeparture, 'drain' | 'node' | 'pod'>): FoundCause {
  const cause = drain === undefined ? undefined : causeByDrain(drain);
  const failure = node === 'Fine' ? undefined : { kind: 'Node', name: pod.node, reason: node };
  return {
    outcome: ASKED.has(way) ? 'Granted' : 'Seen',
    way,
    voluntary: VOLUNTARY.has(way),
    ...((cause ?? failure) && { cause: cause ?? failure }),
  };
}

const causeByDrain = ({ driver, name }: DrainOfNode): FoundCause['cause'] =>
  driver === undefined ? { kind: 'Maintenance', name } : { kind: 'Drain', name, reason: driver };

/** It went by an eviction, of itself or of its group. */
export const isEvicted = ({ target }: PodDeparture): boolean =>
  target?.reason === 'EvictionByEvictionAPI' || isWholeGroup(target);

/** It went by a GroupEviction, and not by itself. */
const isWholeGroup = (target: PodDeparture['target']): boolean =>
  target?.reason === 'GroupEviction' || target?.message.startsWith(WHOLE_GROUP) === true;

/** A Maintenance lets groups go by evictions like anybody's: it is behind one where it holds the node. */
function asMaintenance(
  way: HistoryWay,
  { drain, mayBeOurs }: { drain: DrainOfNode | undefined; mayBeOurs: boolean },
): HistoryWay {
  const byEviction = way === 'Eviction' || way === 'GroupEviction';
  return byEviction && mayBeOurs && drain !== undefined && drain.driver === undefined ? 'Maintenance' : way;
}

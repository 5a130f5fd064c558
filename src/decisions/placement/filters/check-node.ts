import { firstUntolerated } from '../../../api/core/toleration.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { type NodeFacts, UNSCHEDULABLE } from '../cluster/node-facts.ts';
import { matchesNodeChoice } from '../cluster/node-selection.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import type { Constraint, NodeRefusal } from './constraint.ts';
import { isResolvable } from './constraint.ts';
import { askDevices, checkDevices, type DeviceQuestion } from './devices.ts';
import { describeAffinity, describePort, describeSpread } from './describe.ts';
import { type AffinityState, checkAffinity, prepareAffinity } from './pod-affinity.ts';
import { type Rejection, rejection } from './rejection.ts';
import { checkResources, shortages } from './resource-fit.ts';
import { checkSpread, countSpread, type SpreadCounts } from './topology-spread.ts';
import { askVolumes, checkDisks, checkVolumes, type VolumeQuestion } from './volumes.ts';

const CORDONED = rejection('NodeUnschedulable', 'node(s) were unschedulable', false);
const OTHER_NODE = rejection('NodeName', "node(s) didn't match the requested node name", false);
const NOT_READY = rejection('NodeNotReady', 'node(s) had untolerated taint(s)', false);
const TAINTED = rejection('TaintToleration', 'node(s) had untolerated taint(s)', false);
const NOT_CHOSEN = rejection('NodeAffinity', "node(s) didn't match Pod's node affinity/selector", false);
const PORT_TAKEN = rejection('NodePorts', "node(s) didn't have free ports for the requested pod ports", true);

/** What is worked out once per pod before its nodes are looked at. Stale as soon as a pod is placed or removed. */
export interface Question {
  readonly pod: PodFacts;
  readonly cluster: Cluster;
  /** The unit whose holds are room for this pod. */
  readonly unit: string | undefined;
  /** Set when the pod names its node itself: it passes by the scheduler, and only kubelet's rules apply. */
  readonly ownNode: string | undefined;
  readonly affinity: AffinityState | undefined;
  readonly spread: readonly SpreadCounts[];
  readonly toleratesCordon: boolean;
  readonly volumes: VolumeQuestion | undefined;
  readonly devices: DeviceQuestion | undefined;
}

export function ask(pod: PodFacts, cluster: Cluster, unit?: string): Question {
  const ownNode = pod.pod.spec?.nodeName || undefined;
  return {
    pod,
    cluster,
    unit,
    ownNode,
    affinity: ownNode === undefined ? prepareAffinity(pod, cluster) : undefined,
    spread: ownNode === undefined ? countSpread(pod, pod.spread.hard, cluster) : [],
    toleratesCordon: ownNode !== undefined || firstUntolerated([UNSCHEDULABLE], pod.tolerations) === undefined,
    volumes: askVolumes(pod, cluster),
    devices: askDevices(pod, cluster),
  };
}

/**
 * Whether a node can take a pod. Filters run in the order Kubernetes' scheduler runs them and the first that refuses
 * names the reason, so that the two say the same of the same node. Where pods at least as important were promised room
 * on the node, it must take the pod with them there, and without.
 */
export function checkNode(question: Question, node: NodeFacts): Rejection | undefined {
  const rejected = checkAlone(question, node);
  if (rejected !== undefined || node.nominated.size === 0) return rejected;
  return withPromised(question, node, (fuller) => checkAlone(fuller, node));
}

function withPromised<T>(
  question: Question,
  node: NodeFacts,
  look: (fuller: Question) => T | undefined,
): T | undefined {
  const { cluster, pod, unit } = question;
  const promised = [...node.nominated.values()].filter(
    (other) => other.uid !== pod.uid && other.priority >= pod.priority && cluster.placed(other.uid) === undefined,
  );
  if (promised.length === 0) return undefined;
  for (const other of promised) cluster.place(other, node.name);
  const answer = look(ask(pod, cluster, unit));
  for (const other of promised) cluster.remove(other.uid);
  return answer;
}

function checkAlone(question: Question, node: NodeFacts): Rejection | undefined {
  const { affinity, cluster, devices, ownNode, pod, spread, toleratesCordon, volumes } = question;
  if (node.unschedulable && !toleratesCordon) return CORDONED;
  if (ownNode !== undefined && ownNode !== node.name) return OTHER_NODE;
  if (isUnready(question, node)) return NOT_READY;
  if (node.taints.length > 0 && untolerated(question, node) !== undefined) return TAINTED;
  if (!matchesNodeChoice(pod.nodeChoice, node.labels, node.name)) return NOT_CHOSEN;
  for (const port of pod.hostPorts) if (node.ports.conflicts(port)) return PORT_TAKEN;
  const shortage = checkResources(question, node, cluster.resources);
  if (shortage !== undefined) return shortage;
  if (pod.disks.length > 0) {
    const taken = checkDisks(pod, node);
    if (taken !== undefined) return reject(taken);
  }
  if (volumes !== undefined) {
    const elsewhere = checkVolumes(volumes, pod, node);
    if (elsewhere !== undefined) return reject(elsewhere);
  }
  const placed = checkSpread(spread, node) ?? (affinity === undefined ? undefined : checkAffinity(affinity, node));
  if (placed !== undefined || devices === undefined) return placed;
  const missing = checkDevices(devices, node);
  return missing && reject(missing);
}

const isUnready = ({ cluster, pod }: Question, { unreadyTaint }: NodeFacts): boolean =>
  unreadyTaint !== undefined &&
  firstUntolerated([unreadyTaint], pod.tolerations, cluster.rules.taintComparison) !== undefined;

function untolerated({ cluster, ownNode, pod }: Question, { taints }: NodeFacts) {
  const counted = ownNode === undefined ? taints : taints.filter(({ effect }) => effect === 'NoExecute');
  return firstUntolerated(counted, pod.tolerations, cluster.rules.taintComparison);
}

const TEXTS = {
  VolumeRestrictions: 'node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode',
  NodeVolumeLimits: 'node(s) exceed max volume count',
  VolumeBinding: "node(s) didn't match PersistentVolume's node affinity",
  VolumeZone: 'node(s) had no available volume zone',
  DynamicResources: 'cannot allocate all claims',
} as const;

function reject(constraint: Constraint): Rejection {
  const { filter } = constraint;
  const text = filter in TEXTS ? TEXTS[filter as keyof typeof TEXTS] : 'node(s) had no available disk';
  return rejection(filter as keyof typeof TEXTS, text, isResolvable(constraint));
}

/** Everything that keeps a pod from a node, in filter order; empty when the node takes it. */
export function refusalsOn(question: Question, node: NodeFacts): NodeRefusal[] {
  const alone = constraintsOn(question, node);
  const fuller = alone.length === 0 ? withPromised(question, node, (one) => constraintsOn(one, node)) : undefined;
  return (fuller ?? alone).map((constraint) => ({ constraint, resolvable: isResolvable(constraint) }));
}

function constraintsOn(question: Question, node: NodeFacts): Constraint[] {
  const { affinity, devices, ownNode, pod, spread, toleratesCordon, volumes } = question;
  const found: Constraint[] = [];
  const add = (constraint: Constraint | undefined): void => {
    if (constraint !== undefined) found.push(constraint);
  };
  if (node.unschedulable && !toleratesCordon) add({ filter: 'NodeUnschedulable' });
  if (ownNode !== undefined && ownNode !== node.name) add({ filter: 'NodeName' });
  if (isUnready(question, node)) add({ filter: 'NodeNotReady' });
  const taint = untolerated(question, node);
  // A plan's cordon is one refusal, not two.
  if (taint !== undefined && !(node.unschedulable && taint.key === UNSCHEDULABLE.key)) {
    add({ filter: 'TaintToleration', taint });
  }
  if (!matchesNodeChoice(pod.nodeChoice, node.labels, node.name)) {
    const bySelector = !matchesNodeChoice({ selector: pod.nodeChoice?.selector, terms: undefined }, node.labels, '');
    add({ filter: 'NodeAffinity', part: bySelector ? 'selector' : 'affinity' });
  }
  for (const port of pod.hostPorts) if (node.ports.conflicts(port)) add(describePort(port, node));
  found.push(...shortages(question, node));
  add(checkDisks(pod, node));
  add(volumes && checkVolumes(volumes, pod, node));
  if (checkSpread(spread, node) !== undefined) add(describeSpread(spread, node));
  if (affinity !== undefined && checkAffinity(affinity, node) !== undefined)
    add(describeAffinity(affinity, node, question));
  add(devices && checkDevices(devices, node));
  return found;
}

import type { Node } from '../../../api/generated/core-v1.ts';
import type { Labels } from '../../../machinery/values/index.ts';
import { DeviceBook } from './device-book.ts';
import { LabelIndex } from './label-index.ts';
import { type Hold, NodeFacts } from './node-facts.ts';
import { NodeAnswers, type NodePool, poolOf } from './node-pools.ts';
import type { Placed, SpreadFrame } from './placed.ts';
import type { PodFacts } from './pod-facts.ts';
import type { PodTerm } from './pod-terms.ts';
import { ResourceNames } from './resources.ts';
import { VolumeBook } from './volume-book.ts';

/** Where versions and feature gates of Kubernetes differ. */
export interface SchedulingRules {
  readonly level: '1.36' | '1.37';
  /** Tolerations may compare numbers (`Gt`, `Lt`); alpha, and off unless said otherwise. */
  readonly taintComparison: boolean;
}

const DEFAULT_RULES: SchedulingRules = { level: '1.37', taintComparison: false };

/**
 * The nodes and what is on them, kept current pod by pod. Decisions try placements on it and take them back before
 * they return; nothing else runs in between, so it serves as its own snapshot.
 */
export class Cluster {
  readonly resources = new ResourceNames();
  /** Nodes that exist; order changes only when a node comes or goes. */
  readonly nodes: NodeFacts[] = [];
  readonly #byName = new Map<string, NodeFacts>();
  readonly #placed = new Map<string, Placed>();
  readonly #byGroup = new Map<string, Map<string, Placed>>();
  readonly labels = new LabelIndex(() => this.#placed.values());
  readonly #nominations = new Map<string, Placed>();
  readonly namespaceLabels = new Map<string, Labels>();
  readonly volumes = new VolumeBook();
  readonly devices = new DeviceBook();
  /** What upstream rules apply where versions and gates differ. */
  readonly rules: SchedulingRules;
  /** Pods whose required anti-affinity others must respect. */
  readonly withAntiAffinity = new Map<string, Placed>();
  /** The same by rule: many pods have the same one. */
  readonly #antiTerms = new Map<string, AntiTerm>();
  #largest: readonly number[] | undefined;
  /** Pods with any rule about other pods; they pull and push in scoring. */
  readonly withPodTerms = new Map<string, Placed>();
  readonly #priorities = new Map<number, number>();
  /** What spread rules found out about the nodes, by shape of pod; gone with any change of a node. */
  readonly frames = new Map<string, readonly SpreadFrame[]>();
  #nextId = 0;
  /** Which nodes take pods of a shape. */
  readonly answers = new NodeAnswers();
  readonly #pools = new Map<string, ReadonlyMap<string, NodePool>>();
  #open: NodePool | undefined;
  /** Where the last search for a node stopped; the next one goes on from there so all nodes get their turn. */
  searchFrom = 0;

  constructor(rules: Partial<SchedulingRules> = {}) {
    this.rules = { ...DEFAULT_RULES, ...rules };
  }

  setNode(node: Node): void {
    const facts = this.#nodeNamed(node.metadata.name ?? '');
    if (facts.node === undefined) this.nodes.push(facts);
    facts.describe(node, this.resources);
    facts.needsDriver = this.rules.level !== '1.36';
    this.#largest = undefined;
    this.#nodeChanged(facts);
  }

  removeNode(name: string): void {
    const facts = this.#byName.get(name);
    if (facts?.node === undefined) return;
    facts.node = undefined;
    this.#largest = undefined;
    this.#nodeChanged(facts);
    const at = this.nodes.indexOf(facts);
    const last = this.nodes.pop();
    if (last !== undefined && last !== facts) this.nodes[at] = last;
    if (facts.pods.size === 0 && facts.nominated.size === 0) this.#byName.delete(name);
  }

  /** A closed node keeps its pods and takes no others, as if it were cordoned. */
  setClosed(name: string, closed: boolean): void {
    const facts = this.node(name);
    if (facts?.node === undefined || facts.closed === closed) return;
    facts.closed = closed;
    facts.describe(facts.node, this.resources);
    this.#nodeChanged(facts);
  }

  #nodeChanged(facts: NodeFacts): void {
    this.frames.clear();
    this.#pools.clear();
    this.#open = undefined;
    this.answers.changed(facts);
  }

  /** All nodes that are not closed. */
  open(): NodePool {
    this.#open ??= poolOf(this.nodes.filter(({ closed }) => !closed));
    return this.#open;
  }

  /** The nodes that are not closed, by what they have of a label. */
  openBy(key: string): ReadonlyMap<string, NodePool> {
    let pools = this.#pools.get(key);
    if (pools === undefined) {
      const found = new Map<string, NodeFacts[]>();
      for (const node of this.open().nodes) {
        const value = node.labels[key];
        if (value === undefined) continue;
        const known = found.get(value);
        if (known === undefined) found.set(value, [node]);
        else known.push(node);
      }
      pools = new Map([...found].map(([value, nodes]) => [value, poolOf(nodes)]));
      this.#pools.set(key, pools);
    }
    return pools;
  }

  /** Keeps room on a node for one unit; undefined gives it back. */
  setHold(node: NodeFacts, key: string, hold: Hold | undefined): void {
    node.setHold(key, hold);
    this.answers.changed(node);
  }

  node(name: string): NodeFacts | undefined {
    const facts = this.#byName.get(name);
    return facts?.node === undefined ? undefined : facts;
  }

  /** Puts a pod on a node, which need not be known yet; a pod placed before moves. */
  place(pod: PodFacts, nodeName: string): void {
    this.remove(pod.uid);
    const node = this.#nodeNamed(nodeName);
    const placed = { pod, node };
    node.add(pod);
    this.answers.changed(node);
    this.#priorities.set(pod.priority, (this.#priorities.get(pod.priority) ?? 0) + 1);
    this.#placed.set(pod.uid, placed);
    this.labels.add(placed);
    if (pod.claims.length > 0) this.volumes.use(pod.uid, claimKeys(pod));
    if (pod.deviceClaims > 0) this.devices.arrive(pod.uid);
    if (pod.group !== undefined) put(this.#byGroup, pod.group, placed);
    const { affinity, antiAffinity, preferred } = pod.podTerms;
    if (antiAffinity.length > 0) {
      this.withAntiAffinity.set(pod.uid, placed);
      for (const term of antiAffinity) this.#antiTerm(term).placed.set(pod.uid, placed);
    }
    if (affinity.length > 0 || preferred.length > 0) this.withPodTerms.set(pod.uid, placed);
  }

  remove(uid: string): void {
    const placed = this.#placed.get(uid);
    if (placed === undefined) return;
    const { node, pod } = placed;
    node.remove(pod);
    this.answers.changed(node);
    const left = (this.#priorities.get(pod.priority) ?? 0) - 1;
    if (left > 0) this.#priorities.set(pod.priority, left);
    else this.#priorities.delete(pod.priority);
    this.#placed.delete(uid);
    this.labels.remove(placed);
    if (pod.claims.length > 0) this.volumes.release(uid, claimKeys(pod));
    if (this.devices.known) this.devices.leave(uid);
    if (pod.group !== undefined) drop(this.#byGroup, pod.group, uid);
    if (this.withAntiAffinity.delete(uid)) {
      for (const term of pod.podTerms.antiAffinity) this.#leaveAntiTerm(term, uid);
    }
    this.withPodTerms.delete(uid);
    if (node.node === undefined && node.pods.size === 0) this.#byName.delete(node.name);
  }

  /** Required anti-affinity of placed pods, each rule once. */
  antiTerms(): Iterable<AntiTerm> {
    return this.#antiTerms.values();
  }

  #antiTerm(term: PodTerm): AntiTerm {
    const id = signatureOf(term);
    let known = this.#antiTerms.get(id);
    if (known === undefined) {
      known = { term, placed: new Map() };
      this.#antiTerms.set(id, known);
    }
    return known;
  }

  #leaveAntiTerm(term: PodTerm, uid: string): void {
    const id = signatureOf(term);
    const known = this.#antiTerms.get(id);
    known?.placed.delete(uid);
    if (known?.placed.size === 0) this.#antiTerms.delete(id);
  }

  /** The most any node has of each resource. */
  largest(): readonly number[] {
    if (this.#largest !== undefined) return this.#largest;
    const most: number[] = [];
    for (const { allocatable } of this.nodes) {
      for (const [slot, amount] of allocatable.entries()) most[slot] = Math.max(most[slot] ?? 0, amount ?? 0);
    }
    this.#largest = most;
    return most;
  }

  placed(uid: string): Placed | undefined {
    return this.#placed.get(uid);
  }

  all(): Iterable<Placed> {
    return this.#placed.values();
  }

  /** Whether any pod placed is less important than this. */
  hasBelow(priority: number): boolean {
    for (const known of this.#priorities.keys()) if (known < priority) return true;
    return false;
  }

  membersOf(group: string): Placed[] {
    return [...(this.#byGroup.get(group)?.values() ?? [])];
  }

  /** Promises a pod room on a node that its victims are leaving. */
  nominate(pod: PodFacts, nodeName: string): void {
    this.withdrawNomination(pod.uid);
    const node = this.#nodeNamed(nodeName);
    node.nominated.set(pod.uid, pod);
    this.answers.changed(node);
    this.#nominations.set(pod.uid, { pod, node });
  }

  withdrawNomination(uid: string): void {
    const node = this.#nominations.get(uid)?.node;
    if (node === undefined) return;
    node.nominated.delete(uid);
    this.#nominations.delete(uid);
    this.answers.changed(node);
  }

  nomination(uid: string): string | undefined {
    return this.#nominations.get(uid)?.node.name;
  }

  #nodeNamed(name: string): NodeFacts {
    let facts = this.#byName.get(name);
    if (facts === undefined) {
      facts = new NodeFacts(name, this.#nextId);
      this.#nextId += 1;
      this.#byName.set(name, facts);
    }
    return facts;
  }
}

/** A rule, and the placed pods that have it. */
export interface AntiTerm {
  readonly term: PodTerm;
  readonly placed: Map<string, Placed>;
}

const signatures = new WeakMap<PodTerm, string>();

function signatureOf(term: PodTerm): string {
  let known = signatures.get(term);
  if (known === undefined) {
    const { namespaceSelector, namespaces, selector, topologyKey } = term;
    known = JSON.stringify([topologyKey, selector, [...namespaces], namespaceSelector]);
    signatures.set(term, known);
  }
  return known;
}

const claimKeys = ({ claims, namespace }: PodFacts): string[] => claims.map((claim) => `${namespace}/${claim}`);

function put(buckets: Map<string, Map<string, Placed>>, bucket: string, placed: Placed): void {
  const members = buckets.get(bucket);
  if (members === undefined) buckets.set(bucket, new Map([[placed.pod.uid, placed]]));
  else members.set(placed.pod.uid, placed);
}

function drop(buckets: Map<string, Map<string, Placed>>, bucket: string, uid: string): void {
  const members = buckets.get(bucket);
  members?.delete(uid);
  if (members?.size === 0) buckets.delete(bucket);
}

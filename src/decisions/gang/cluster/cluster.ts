import type { Node } from '../../../api/generated/core-v1.ts';
import type { Labels } from '../../../machinery/values/index.ts';
import { LabelIndex } from './label-index.ts';
import { NodeFacts } from './node-facts.ts';
import type { NodeTerm } from './node-selection.ts';
import type { Placed, SpreadFrame } from './placed.ts';
import type { PodFacts } from './pod-facts.ts';
import { ResourceNames } from './resources.ts';

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
  readonly labels = new LabelIndex();
  readonly #nominations = new Map<string, Placed>();
  readonly namespaceLabels = new Map<string, Labels>();
  /** Where the volume behind a claim (`namespace/name`) can be used, for claims that have one with such limits. */
  readonly volumeTerms = new Map<string, readonly NodeTerm[]>();
  /** Pods whose required anti-affinity others must respect. */
  readonly withAntiAffinity = new Map<string, Placed>();
  /** Pods with any rule about other pods; they pull and push in scoring. */
  readonly withPodTerms = new Map<string, Placed>();
  readonly #priorities = new Map<number, number>();
  /** What spread rules found out about the nodes, by shape of pod; gone with any change of a node. */
  readonly frames = new Map<string, readonly SpreadFrame[]>();
  /** Where the last search for a node stopped; the next one goes on from there so all nodes get their turn. */
  searchFrom = 0;

  setNode(node: Node): void {
    const facts = this.#nodeNamed(node.metadata.name ?? '');
    if (facts.node === undefined) this.nodes.push(facts);
    facts.describe(node, this.resources);
    this.frames.clear();
  }

  removeNode(name: string): void {
    const facts = this.#byName.get(name);
    if (facts?.node === undefined) return;
    facts.node = undefined;
    this.frames.clear();
    const at = this.nodes.indexOf(facts);
    const last = this.nodes.pop();
    if (last !== undefined && last !== facts) this.nodes[at] = last;
    if (facts.pods.size === 0 && facts.nominated.size === 0) this.#byName.delete(name);
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
    this.#priorities.set(pod.priority, (this.#priorities.get(pod.priority) ?? 0) + 1);
    this.#placed.set(pod.uid, placed);
    this.labels.add(placed);
    if (pod.group !== undefined) put(this.#byGroup, pod.group, placed);
    const { affinity, antiAffinity, preferred } = pod.podTerms;
    if (antiAffinity.length > 0) this.withAntiAffinity.set(pod.uid, placed);
    if (affinity.length > 0 || preferred.length > 0) this.withPodTerms.set(pod.uid, placed);
  }

  remove(uid: string): void {
    const placed = this.#placed.get(uid);
    if (placed === undefined) return;
    const { node, pod } = placed;
    node.remove(pod);
    const left = (this.#priorities.get(pod.priority) ?? 0) - 1;
    if (left > 0) this.#priorities.set(pod.priority, left);
    else this.#priorities.delete(pod.priority);
    this.#placed.delete(uid);
    this.labels.remove(placed);
    if (pod.group !== undefined) drop(this.#byGroup, pod.group, uid);
    this.withAntiAffinity.delete(uid);
    this.withPodTerms.delete(uid);
    if (node.node === undefined && node.pods.size === 0) this.#byName.delete(node.name);
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
    this.#nominations.set(pod.uid, { pod, node });
  }

  withdrawNomination(uid: string): void {
    this.#nominations.get(uid)?.node.nominated.delete(uid);
    this.#nominations.delete(uid);
  }

  nomination(uid: string): string | undefined {
    return this.#nominations.get(uid)?.node.name;
  }

  #nodeNamed(name: string): NodeFacts {
    let facts = this.#byName.get(name);
    if (facts === undefined) {
      facts = new NodeFacts(name);
      this.#byName.set(name, facts);
    }
    return facts;
  }
}

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

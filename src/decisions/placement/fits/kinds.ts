import type { Cluster } from '../cluster/cluster.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { matchesPodTerm, type PodTerm } from '../cluster/pod-terms.ts';
import { matches } from '../../../machinery/values/index.ts';

/** Pods that fare alike: any of them can stand for any other. */
export interface Kind {
  readonly id: string;
  readonly pods: readonly PodFacts[];
  /** One of them, for questions about all. */
  readonly sample: PodFacts;
}

/**
 * Sorts pods into kinds: one shape, and one answer to every rule about pods that is in play. Labels that no rule looks
 * at, such as the index of a member, make no difference. Large pods first, then by shape, then by name.
 */
export function kindsOf(pods: readonly PodFacts[], cluster: Cluster): Kind[] {
  const rules = rulesInPlay(pods, cluster);
  const buckets = new Map<string, PodFacts[]>();
  for (const pod of pods) {
    const answers = rules.map((rule) => (rule(pod) ? '1' : '0')).join('');
    const id = `${answers} ${pod.shape}`;
    const bucket = buckets.get(id);
    if (bucket === undefined) buckets.set(id, [pod]);
    else bucket.push(pod);
  }
  const sizes = cluster.largest();
  return [...buckets]
    .map(([id, members]) => {
      const ordered = members.sort((a, b) => (a.uid < b.uid ? -1 : 1));
      return { id, pods: ordered, sample: ordered[0] as PodFacts };
    })
    .sort((a, b) => sizeOf(b.sample, sizes) - sizeOf(a.sample, sizes) || (a.id < b.id ? -1 : 1));
}

function rulesInPlay(pods: readonly PodFacts[], cluster: Cluster): ((pod: PodFacts) => boolean)[] {
  const rules = new Map<string, (pod: PodFacts) => boolean>();
  const labelsOf = (namespace: string) => cluster.namespaceLabels.get(namespace);
  const add = (term: PodTerm): void => {
    const id = JSON.stringify([term.selector, [...term.namespaces], term.namespaceSelector]);
    if (!rules.has(id)) rules.set(id, (pod) => matchesPodTerm(term, pod, labelsOf(pod.namespace)));
  };
  for (const pod of pods) {
    if (!pod.looksAtPods) continue;
    for (const term of [...pod.podTerms.affinity, ...pod.podTerms.antiAffinity]) add(term);
    for (const { selector } of pod.spread.hard) {
      rules.set(`${pod.namespace} ${JSON.stringify(selector)}`, (other) => matches(selector, other.labels));
    }
  }
  for (const { term } of cluster.antiTerms()) add(term);
  return [...rules.values()];
}

const sizeOf = ({ requests }: PodFacts, largest: readonly number[]): number =>
  requests.reduce((size, { amount, slot }) => Math.max(size, amount / Math.max(largest[slot] ?? 1, 1)), 0);

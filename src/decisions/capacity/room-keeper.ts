import type { Pod, PodTemplateSpec } from '../../api/generated/core-v1.ts';
import type { StoredPodGroup, StoredWorkload } from '../../api/scheduling/index.ts';
import {
  type PromisedPlace,
  readGroupLink,
  type RoomAnswer,
  type RoomAsk,
  type RoomJudge,
} from '../disruption/index.ts';
import { findTerms, type GroupTerms } from '../gang/index.ts';
import {
  type Amount,
  type Answer,
  Cluster,
  fitsGroup,
  type GroupAsk,
  type PodFacts,
  podFacts,
  replacementOf,
  type SchedulingRules,
  tellAnswer,
} from '../placement/index.ts';

/** How many times a pod is held against a node while somebody waits for the answer. */
const SEARCH_LIMIT = 5_000;

interface RoomOptions {
  readonly rules?: Partial<SchedulingRules>;
  /** Whether a pod's scheduler looks for a way, as ours does. */
  readonly searches: (schedulerName: string) => boolean;
  /** Why nothing can be said just now, such as a view that is too old. */
  readonly unsure?: ((now: number) => string | undefined) | undefined;
}

interface Promised {
  readonly where: readonly PromisedPlace[];
  readonly until: number;
  /** UIDs of the members that were there when it was given: the others have come back. */
  readonly before: ReadonlySet<string>;
  readonly members: RoomAsk['members'];
}

/**
 * Knows the nodes of a cluster and what is on them, and answers whether a whole unit finds places before one of its
 * pods goes. Told of every change, in the order of changes; a question never lists anything.
 */
export class RoomKeeper implements RoomJudge {
  readonly cluster: Cluster;
  readonly podGroups = new Map<string, StoredPodGroup>();
  readonly workloads = new Map<string, StoredWorkload>();
  /** Pod templates by the UID of the controller. */
  readonly templates = new Map<string, PodTemplateSpec>();
  readonly #options: RoomOptions;
  readonly #uids = new Map<string, string>();
  #promises = new Map<string, Promised>();

  constructor(options: RoomOptions, cluster = new Cluster(options.rules)) {
    this.cluster = cluster;
    this.#options = options;
  }

  setPod(pod: Pod): void {
    const key = keyOf(pod.metadata);
    const facts = podFacts(pod, this.cluster.resources);
    const known = this.#uids.get(key);
    if (known !== undefined && known !== facts.uid) this.#forget(known);
    const { phase } = pod.status ?? {};
    const node = pod.spec?.nodeName;
    this.cluster.withdrawNomination(facts.uid);
    if (phase === 'Succeeded' || phase === 'Failed') {
      this.#forget(facts.uid);
      this.#uids.delete(key);
      return;
    }
    this.#uids.set(key, facts.uid);
    if (node) this.cluster.place(facts, node);
    else if (pod.status?.nominatedNodeName) this.cluster.nominate(facts, pod.status.nominatedNodeName);
  }

  deletePod(namespace: string, name: string): void {
    const key = `${namespace}/${name}`;
    const uid = this.#uids.get(key);
    if (uid !== undefined) this.#forget(uid);
    this.#uids.delete(key);
  }

  #forget(uid: string): void {
    this.cluster.remove(uid);
    this.cluster.withdrawNomination(uid);
  }

  /**
   * Room beside the unit as it stands is best. Otherwise its own room counts too, which it enters again: not a place
   * that a cordon or a taint keeps it from, because filters say that themselves.
   */
  ask(ask: RoomAsk): RoomAnswer {
    const unsure = this.#options.unsure?.(ask.now);
    if (unsure !== undefined) return { found: false, reason: 'CannotTell', text: `CannotTell: ${unsure}` };
    const members = this.#membersOf(ask);
    // A cordoned node of its own is no place to go back to, and nothing to explain.
    const cordoned = members.filter(({ node }) => this.cluster.node(node)?.unschedulable === true);
    const closing = [...new Set([...ask.closing, ...cordoned.map(({ node }) => node)])].filter(
      (name) => this.cluster.node(name)?.closed === false,
    );
    for (const name of closing) this.cluster.setClosed(name, true);
    const release = this.#holdPromises(ask);
    try {
      const question = this.#questionFor(ask.unit, members);
      const beside = fitsGroup(question, this.cluster);
      if (isSure(beside)) return this.#yes(beside);
      for (const { facts } of members) this.cluster.remove(facts.uid);
      const after = fitsGroup(question, this.cluster);
      for (const { facts, node } of members) this.cluster.place(facts, node);
      return isSure(after) ? this.#yes(after) : refused(after);
    } finally {
      release();
      for (const name of closing) this.cluster.setClosed(name, false);
    }
  }

  promise(ask: RoomAsk, where: readonly PromisedPlace[], until: number): void {
    const before = new Set(this.#membersOf(ask).map(({ facts }) => facts.uid));
    this.#promises.set(ask.unit, { where, until, before, members: ask.members });
  }

  during<T>(work: () => T): T {
    const before = new Map(this.#promises);
    try {
      return work();
    } finally {
      this.#promises = before;
    }
  }

  #membersOf({ members }: Pick<RoomAsk, 'members'>): { facts: PodFacts; node: string }[] {
    return members.flatMap(({ name, namespace }) => {
      const placed = this.cluster.placed(this.#uids.get(`${namespace}/${name}`) ?? '');
      return placed === undefined ? [] : [{ facts: placed.pod, node: placed.node.name }];
    });
  }

  #questionFor(unit: string, members: readonly { facts: PodFacts; node: string }[]): GroupAsk {
    const { resources } = this.cluster;
    const pods = members.map(({ facts }) => {
      const again = replacementOf(facts.pod, this.templates.get(facts.owner ?? ''));
      return podFacts({ ...again, metadata: { ...again.metadata, uid: `${facts.uid} again` } }, resources, unit);
    });
    const terms = members[0] && this.#termsOf(members[0].facts.pod);
    const key = terms?.topologyKey;
    // Members that are on their way out still decide the domain for kube-scheduler.
    const leaving = members.filter(({ facts }) => facts.terminating).map(({ node }) => node);
    return {
      unit,
      pods,
      need: 'all',
      leaving,
      now: true,
      limit: SEARCH_LIMIT,
      searches: ({ pod }) => this.#options.searches(pod.spec?.schedulerName ?? 'default-scheduler'),
      ...(key !== undefined && { topology: [{ key, mode: 'Required' as const }], apart: terms?.gang !== true }),
    };
  }

  #termsOf(pod: Pod): GroupTerms | undefined {
    const link = readGroupLink(pod);
    if (link === undefined) return undefined;
    const at = (name: string): string => `${pod.metadata.namespace ?? ''}/${name}`;
    const answer = findTerms(link, {
      podGroup: (name) => this.podGroups.get(at(name)),
      workload: (name) => this.workloads.get(at(name)),
    });
    return answer.reason === 'Found' ? answer.terms : undefined;
  }

  /** What other units were promised and have not taken yet is not free. */
  #holdPromises({ now, unit }: RoomAsk): () => void {
    const held: (() => void)[] = [];
    for (const [other, promise] of this.#promises) {
      const open = promise.until > now ? this.#openPlaces(promise) : [];
      if (open.length === 0) this.#promises.delete(other);
      if (other === unit) continue;
      for (const [at, { amounts, node: name }] of open.entries()) {
        const node = this.cluster.node(name);
        if (node === undefined) continue;
        const key = `promised to ${other} ${at}`;
        node.setHold(key, { unit: other, amounts: this.#amountsOf(amounts), pods: 1 });
        held.push(() => node.setHold(key, undefined));
      }
    }
    return () => {
      for (const release of held) release();
    };
  }

  /** As many places as members have not come back; where an old member still stands, it holds its room itself. */
  #openPlaces({ before, members, where }: Promised): readonly PromisedPlace[] {
    const standing = this.#membersOf({ members });
    const back = standing.filter(({ facts }) => !before.has(facts.uid) && !facts.terminating).length;
    const own = new Set(standing.filter(({ facts }) => before.has(facts.uid)).map(({ node }) => node));
    return where.filter(({ node }) => !own.has(node)).slice(back);
  }

  #amountsOf(amounts: PromisedPlace['amounts']): Amount[] {
    return Object.entries(amounts).map(([name, amount]) => ({ slot: this.cluster.resources.slot(name), amount }));
  }

  #yes({ where }: Extract<Answer, { fits: 'Yes' }>): RoomAnswer {
    const { resources } = this.cluster;
    return {
      found: true,
      where: where.map(({ node, pod }) => ({
        node,
        amounts: Object.fromEntries(pod.requests.map(({ amount, slot }) => [resources.names[slot] ?? '', amount])),
      })),
    };
  }
}

const keyOf = ({ name = '', namespace = '' }: Pod['metadata']): string => `${namespace}/${name}`;

/** Volumes that could not be read are no ground to take something down. */
function isSure(answer: Answer): answer is Extract<Answer, { fits: 'Yes' }> {
  return answer.fits === 'Yes' && !isBlindToVolumes(answer);
}

const isBlindToVolumes = ({ confidence }: Answer): boolean =>
  confidence.kind === 'assumed' && confidence.list.includes('VolumesNotKnown');

function refused(answer: Answer): RoomAnswer {
  if (answer.fits === 'Yes') {
    return { found: false, reason: 'CannotTell', text: 'CannotTell: may not read persistentvolumeclaims' };
  }
  return { found: false, reason: answer.fits === 'No' ? 'NoRoom' : 'CannotTell', text: tellAnswer(answer) };
}

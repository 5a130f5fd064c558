import type { Pod, PodTemplateSpec } from '../../api/generated/core-v1.ts';
import type { CompositePodGroup } from '../../api/generated/scheduling-v1alpha3.ts';
import type { StoredPodGroup, StoredWorkload } from '../../api/scheduling/index.ts';
import { type KeptPlace, readGroupLink, type RoomAnswer, type RoomAsk, type RoomJudge } from '../disruption/index.ts';
import { findTerms, type GroupTerms, topologyRules } from '../gang/index.ts';
import {
  type Amount,
  type Answer,
  type Assignment,
  Cluster,
  fitsGroup,
  fitsOn,
  type GroupAsk,
  type PodFacts,
  podFacts,
  replacementOf,
  type SchedulingRules,
  tellAnswer,
  type TopologyRule,
} from '../placement/index.ts';
import { HOLD_FOR, HOLD_MEMBERS, isPlaceholder, shortUid } from './placeholder.ts';

/** How many times a pod is held against a node while somebody waits for the answer. */
const SEARCH_LIMIT = 5_000;

/** When to ask again while nothing can be said. */
const UNSURE_SECONDS = 5;

interface RoomOptions {
  readonly rules?: Partial<SchedulingRules>;
  /** Whether a pod's scheduler looks for a way, as ours does. */
  readonly searches: (schedulerName: string) => boolean;
  /** Why nothing can be said just now, such as a view that is too old. */
  readonly unsure?: ((now: number) => string | undefined) | undefined;
}

interface Promised {
  readonly where: readonly KeptPlace[];
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
  readonly composites = new Map<string, CompositePodGroup>();
  /** Pod templates by the UID of the controller. */
  readonly templates = new Map<string, PodTemplateSpec>();
  readonly #options: RoomOptions;
  readonly #uids = new Map<string, string>();
  #promises = new Map<string, Promised>();
  /** UIDs of the pods that hold room, by the unit they hold it for. */
  readonly #placeholders = new Map<string, Set<string>>();
  /** The members that room is held for, by the beginning of their UIDs. */
  readonly #heldMembers = new Map<string, ReadonlySet<string>>();

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
    const unit = isPlaceholder(pod) ? pod.metadata.annotations?.[HOLD_FOR] : undefined;
    if (unit !== undefined) {
      this.#placeholders.set(unit, (this.#placeholders.get(unit) ?? new Set()).add(facts.uid));
      this.#heldMembers.set(unit, new Set(pod.metadata.annotations?.[HOLD_MEMBERS]?.split(',')));
    }
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
    const unit = this.cluster.placed(uid)?.pod.pod.metadata.annotations?.[HOLD_FOR];
    if (unit !== undefined) {
      this.#placeholders.get(unit)?.delete(uid);
      if (this.#placeholders.get(unit)?.size === 0) {
        this.#placeholders.delete(unit);
        this.#heldMembers.delete(unit);
      }
    }
    this.cluster.remove(uid);
    this.cluster.withdrawNomination(uid);
  }

  /**
   * Room beside the unit as it stands is best. Otherwise its own room counts too, which it enters again: not a place
   * that a cordon or a taint keeps it from, because filters say that themselves.
   */
  ask(ask: RoomAsk): RoomAnswer {
    const unsure = this.#options.unsure?.(ask.now);
    if (unsure !== undefined) {
      return { found: false, reason: 'CannotTell', text: `CannotTell: ${unsure}`, retryAfterSeconds: UNSURE_SECONDS };
    }
    const members = this.#membersOf(ask);
    // A cordoned node of its own is no place to go back to, and nothing to explain.
    const cordoned = members.filter(({ node }) => this.cluster.node(node)?.unschedulable === true);
    const closing = [...new Set([...ask.closing, ...cordoned.map(({ node }) => node)])].filter(
      (name) => this.cluster.node(name)?.closed === false,
    );
    for (const name of closing) this.cluster.setClosed(name, true);
    const release = this.#holdPromises(ask);
    // What is held for this very unit is free for it.
    const held = this.#heldFor(ask).flatMap((uid) => {
      const placed = this.cluster.placed(uid);
      return placed === undefined ? [] : [{ pod: placed.pod, node: placed.node.name }];
    });
    for (const { pod } of held) this.cluster.remove(pod.uid);
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
      for (const { node, pod } of held) this.cluster.place(pod, node);
      for (const name of closing) this.cluster.setClosed(name, false);
    }
  }

  replace(ask: RoomAsk & { readonly pods: readonly Pod[] }, lost: number): RoomAnswer {
    const unsure = this.#options.unsure?.(ask.now);
    const members = ask.pods.map((pod) => ({
      facts: podFacts(pod, this.cluster.resources),
      node: pod.spec?.nodeName ?? '',
    }));
    const held = this.#heldFor(ask).flatMap((uid) => this.cluster.placed(uid) ?? []);
    const { pods, ...question } = this.#questionFor(ask.unit, members);
    const left = unheld(
      pods,
      held.map(({ pod }) => pod),
    ).slice(0, lost);
    if (unsure !== undefined || left.length < lost) {
      return { found: false, reason: 'CannotTell', text: `CannotTell: ${unsure ?? 'its members are gone'}` };
    }
    const release = this.#holdPromises(ask);
    const own = [...new Set(members.map(({ node }) => node))];
    // A node that its members leave for a cordon is no place for them.
    const closed = own.filter((name) => this.cluster.node(name)?.unschedulable === true);
    const closing = closed.filter((name) => this.cluster.node(name)?.closed === false);
    for (const name of closing) this.cluster.setClosed(name, true);
    try {
      const staying = held.map(({ node }) => node.name);
      const answer = fitsGroup({ ...question, pods: left, leaving: [], staying }, this.cluster);
      return isSure(answer) ? this.#yes(answer) : refused(answer);
    } finally {
      for (const name of closing) this.cluster.setClosed(name, false);
      release();
    }
  }

  /** UIDs of the placeholders of a unit: budgets of both kinds may count the same pods under two names. */
  #heldFor({ members, unit }: Pick<RoomAsk, 'members' | 'unit'>): string[] {
    return [...this.#placeholders].flatMap(([other, uids]) => {
      const before = this.#heldMembers.get(other);
      return other === unit || members.some(({ uid }) => before?.has(shortUid(uid)) === true) ? [...uids] : [];
    });
  }

  promise({ members, unit }: Pick<RoomAsk, 'members' | 'unit'>, where: readonly KeptPlace[], until: number): void {
    const before = new Set(members.map(({ uid }) => uid));
    this.#promises.set(unit, { where, until, before, members });
  }

  hasPromise(unit: string): boolean {
    return this.#promises.has(unit);
  }

  withdraw(unit: string): void {
    this.#promises.delete(unit);
  }

  heldForOthers(unit: string): { placeholders: number; units: number } {
    const others = [...this.#placeholders].filter(([other]) => other !== unit);
    return { placeholders: others.reduce((sum, [, uids]) => sum + uids.size, 0), units: others.length };
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
    const topology = this.#topologyOf(members);
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
      ...(topology.length > 0 && { topology, apart: terms?.gang !== true }),
    };
  }

  /** What the unit keeps to, with the nodes of groups beside it in the same composite. */
  #topologyOf(members: readonly { facts: PodFacts }[]): TopologyRule[] {
    const own = new Set(members.map(({ facts }) => facts.uid));
    const rules = new Map<string, TopologyRule>();
    for (const { facts } of members) {
      for (const rule of this.#rulesOf(facts.pod)) rules.set(`${rule.key} ${rule.among ?? ''}`, rule);
    }
    return [...rules.values()].map((rule) => {
      if (rule.among === undefined) return rule;
      const pins = [...this.cluster.all()].flatMap(({ node, pod }) => {
        const isAmong = !own.has(pod.uid) && this.#rulesOf(pod.pod).some(({ among }) => among === rule.among);
        return isAmong ? [node.name] : [];
      });
      return { ...rule, pins };
    });
  }

  #rulesOf(pod: Pod): TopologyRule[] {
    const terms = this.#termsOf(pod);
    const namespace = pod.metadata.namespace ?? '';
    if (terms === undefined) return [];
    return topologyRules(terms, namespace, (name) => this.composites.get(`${namespace}/${name}`));
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
  #holdPromises({ members, now, unit }: RoomAsk): () => void {
    const held: (() => void)[] = [];
    const own = new Set(members.map(({ uid }) => uid));
    for (const [other, promise] of this.#promises) {
      const open = promise.until > now ? this.#openPlaces(promise) : [];
      if (open.length === 0) this.#promises.delete(other);
      // Budgets of both kinds may count the same pods under two names.
      if (other === unit || [...promise.before].some((uid) => own.has(uid))) continue;
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
  #openPlaces({ before, members, where }: Promised): readonly KeptPlace[] {
    const standing = this.#membersOf({ members });
    const back = standing.filter(({ facts }) => !before.has(facts.uid) && !facts.terminating).length;
    const own = new Set(standing.filter(({ facts }) => before.has(facts.uid)).map(({ node }) => node));
    return where.filter(({ node }) => !own.has(node)).slice(back);
  }

  #amountsOf(amounts: KeptPlace['amounts']): Amount[] {
    return Object.entries(amounts).map(([name, amount]) => ({ slot: this.cluster.resources.slot(name), amount }));
  }

  #yes({ where }: Extract<Answer, { fits: 'Yes' }>): RoomAnswer {
    const { resources } = this.cluster;
    const free = this.#freeNow(where);
    return {
      found: true,
      where: where.map(({ node, pod }, at) => ({
        node,
        amounts: Object.fromEntries(pod.requests.map(({ amount, slot }) => [resources.names[slot] ?? '', amount])),
        pod: pod.pod,
        isFree: free[at] === true,
      })),
    };
  }

  /** Which of these places are there while everything stands as it does. */
  #freeNow(where: readonly Assignment[]): boolean[] {
    const taken: string[] = [];
    const free = where.map(({ node, pod }) => {
      if (!fitsOn(pod, node, this.cluster).fits) return false;
      this.cluster.place(pod, node);
      taken.push(pod.uid);
      return true;
    });
    for (const uid of taken) this.cluster.remove(uid);
    return free;
  }
}

const keyOf = ({ name = '', namespace = '' }: Pod['metadata']): string => `${namespace}/${name}`;

/** Volumes that could not be read are no ground to take something down. */
/** The members that no placeholder stands for: one takes as much as the member does. */
function unheld(members: readonly PodFacts[], placeholders: readonly PodFacts[]): PodFacts[] {
  const sizes = placeholders.map(sizeOf);
  return members.filter((member) => {
    const at = sizes.indexOf(sizeOf(member));
    if (at >= 0) sizes.splice(at, 1);
    return at < 0;
  });
}

const sizeOf = ({ requests }: PodFacts): string =>
  requests
    .filter(({ amount }) => amount > 0)
    .map(({ amount, slot }) => `${slot}=${amount}`)
    .sort()
    .join();

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

import type { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import { type NodePool, poolOf } from '../cluster/node-pools.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import { matchesPodTerm } from '../cluster/pod-terms.ts';
import { ask as askNode, checkNode, refusalsOn } from '../filters/check-node.ts';
import { domainsFor, isInside } from './domains.ts';
import { type BareNo, type DomainTry, explained, explainNo, restOf } from './explain-group.ts';
import { kindsOf, type Kind } from './kinds.ts';
import {
  type Answer,
  type Assignment,
  type Assumption,
  type Binding,
  confidenceOf,
  type Domain,
  EXACT,
  type GroupAsk,
  type NearMiss,
  type NodeAnswer,
  type NoProof,
  type UnknownReason,
} from './model.ts';
import { holdsInSamples, isOrderFree } from './order.ts';
import { fitsOver } from './preempt.ts';
import { type Capacity, capacityOf, findNoProof } from './proofs.ts';
import { Attempt, Effort, placeAnyhow, placeTightest } from './search.ts';

/** How many times a pod is held against a node before a search gives up. */
export const SEARCH_LIMIT = 20_000;
const MAX_MEMBERS = 2_000;
const MAX_DOMAINS = 1_000;

/** One pod on one node: everything that keeps it away. */
export function fitsOn(pod: PodFacts, nodeName: string, cluster: Cluster, unit?: string): NodeAnswer {
  const node = cluster.node(nodeName);
  const confidence = confidenceOf(assumptionsOf([pod], cluster));
  if (node === undefined) {
    return { fits: false, refusals: [{ constraint: { filter: 'NodeGone' }, resolvable: false }], confidence: EXACT };
  }
  const refusals = refusalsOn(askNode(pod, cluster, unit), node);
  return refusals.length === 0 ? { fits: true, confidence } : { fits: false, refusals, confidence: EXACT };
}

/** One pod on any node. */
export function fitsAnywhere(pod: PodFacts, cluster: Cluster): Answer {
  return fitsGroup({ unit: pod.uid, pods: [pod], need: 'all' }, cluster);
}

/** A whole unit at once. The cluster is left as it was found. */
export function fitsGroup(ask: GroupAsk, cluster: Cluster): Answer {
  const found = tryGroup(ask, cluster);
  if (found.fits !== 'No') return found;
  const over = ask.mayPreempt === undefined ? undefined : fitsOver(ask, cluster, (one) => tryGroup(one, cluster));
  return over ?? explainNo(ask, found, cluster);
}

export type Tried = Exclude<Answer, { fits: 'No' }> | BareNo;

/** The decision without the explanation of a no. */
export function tryGroup(ask: GroupAsk, cluster: Cluster): Tried {
  if (ask.children !== undefined) return tryComposite(ask, ask.children, cluster);
  const { pods, staying = [], unit } = ask;
  const need = ask.need === 'all' ? pods.length : Math.max(0, ask.need);
  const first = pods[0];
  if (first === undefined) {
    return { fits: 'Yes', where: [], proof: 'Witness', confidence: confidenceOf(ask.assumptions ?? []) };
  }
  if (pods.length > MAX_MEMBERS) return { fits: 'Unknown', because: { reason: 'SearchLimit' }, confidence: EXACT };
  if (need > pods.length) {
    const exist = pods.length + staying.length;
    return refuse(first, { filter: 'Members', exist, need: need + staying.length }, 'Members', pods.length);
  }
  const attempt = new Attempt(cluster, unit, ask.zones);
  const effort = new Effort(ask.limit ?? SEARCH_LIMIT);
  const kinds = kindsOf(pods, cluster);
  const unknown = findUnknown(kinds, attempt);
  const assumptions = [...(ask.assumptions ?? []), ...assumptionsOf(pods, cluster)];
  const context = { attempt, effort, kinds, need, unknown, assumptions, ask };
  const required = (ask.topology ?? []).some(({ mode }) => mode === 'Required');
  if (!required) {
    const open = cluster.open();
    const pool = ask.within === undefined ? open : poolOf(open.nodes.filter((node) => isInside(node, ask.within)));
    const tried = tryNodes(context, pool, ask.within);
    return 'placed' in tried ? { fits: 'No', proof: tried.proof, tries: [tried] } : tried;
  }
  const domains = domainsFor(ask, cluster);
  if ('refused' in domains) {
    return refuse(first, domains.refused, 'Domain', pods.length, { domains: domains.values });
  }
  if (domains.going) assumptions.push('RoomOfTheGoing');
  return tryDomains(context, domains.domains);
}

interface Context {
  readonly attempt: Attempt;
  readonly effort: Effort;
  readonly kinds: readonly Kind[];
  readonly need: number;
  readonly unknown: UnknownReason | undefined;
  readonly assumptions: readonly Assumption[];
  readonly ask: GroupAsk;
}

function refuse(
  pod: PodFacts,
  constraint: Binding['constraint'],
  proof: NoProof,
  of: number,
  more: Partial<NearMiss> = {},
): BareNo {
  const binding: Binding = { constraint, scope: 'Cluster', pod: nameOf(pod), nodes: 0, of: 0 };
  return {
    fits: 'No',
    proof,
    tries: [],
    refused: { binding, nearMiss: { placed: 0, of, missing: [constraint], ...more } },
  };
}

const nameOf = ({ name, namespace }: PodFacts): string => `${namespace}/${name}`;

function tryDomains(context: Context, domains: readonly { readonly domain: Domain; readonly pool: NodePool }[]): Tried {
  const { ask, kinds, need } = context;
  const total = kinds.reduce((sum, { pods }) => sum + pods.length, 0);
  const foreign = ask.pods.some((pod) => ask.searches?.(pod) !== true);
  const tries: DomainTry[] = [];
  let best: Extract<Tried, { fits: 'Yes' }> | undefined;
  let unknown: Extract<Tried, { fits: 'Unknown' }> | undefined;
  let smaller = false;
  let fails = false;
  for (const [index, { domain, pool }] of domains.entries()) {
    if (index >= MAX_DOMAINS) return best ?? { fits: 'Unknown', because: { reason: 'SearchLimit' }, confidence: EXACT };
    const tried = tryNodes(context, pool, domain);
    if (ask.apart === true && ('placed' in tried || tried.fits !== 'Yes') && isEntered(context, pool)) fails = true;
    if ('placed' in tried) tries.push(tried);
    else if (tried.fits === 'Unknown') unknown ??= tried;
    else {
      if (tried.where.length < total) smaller = true;
      if (best === undefined || tried.where.length > best.where.length) best = tried;
      // A scheduler of another make may settle in any domain that is enough.
      const isEnough = need === total && ask.apart !== true;
      if (best.where.length === total && (isEnough || !foreign)) break;
    }
  }
  if (best === undefined) return unknown ?? { fits: 'No', proof: 'Domain', tries };
  if (foreign && ask.apart === true && (fails || smaller)) {
    return { fits: 'Unknown', because: { reason: 'DependsOnOrder' }, where: best.where, confidence: EXACT };
  }
  if (!foreign || !smaller) return best;
  const list = best.confidence.kind === 'exact' ? [] : best.confidence.list;
  return { ...best, confidence: confidenceOf([...list, 'DomainChoice']) };
}

/** Whether some member finds a place on these nodes while none of its fellows is there. */
function isEntered({ attempt, kinds }: Context, pool: NodePool): boolean {
  return capacityOf(kinds, pool, attempt).some(({ slots }) => slots > 0);
}

/** The group on these nodes: proofs that it cannot be, then a way to place it, then whether others would find one. */
function tryNodes(
  context: Context,
  pool: NodePool,
  domain: Domain | undefined,
): DomainTry | Exclude<Answer, { fits: 'No' }> {
  const { assumptions, attempt, effort, kinds, need, unknown } = context;
  const capacities = capacityOf(kinds, pool, attempt);
  const proof = findNoProof(capacities, need);
  if (proof !== undefined) return { domain, pool, proof, placed: -1 };
  if (unknown !== undefined) return { fits: 'Unknown', because: unknown, confidence: EXACT };
  const total = kinds.reduce((sum, { pods }) => sum + pods.length, 0);
  let placed = placeTightest(kinds, pool, { attempt, effort });
  if (placed < total) {
    const greedy = [...attempt.where];
    attempt.rollback();
    const wanted = placed >= need ? total : need;
    const most = placeAnyhow(kinds, pool.nodes, { attempt, effort, wanted });
    if (attempt.where.length < wanted) {
      attempt.rollback();
      if (placed >= need) for (const { node, pod } of greedy) attempt.place(pod, cluster(attempt, node));
      else if (effort.spent) return { fits: 'Unknown', because: { reason: 'SearchLimit' }, confidence: EXACT };
      else return { domain, pool, proof: 'Exhausted', placed: Math.max(most, placed) };
    } else if (wanted < total) placeTightest(restOf(kinds, attempt.where), pool, { attempt, effort });
    placed = attempt.where.length;
  }
  const where = [...attempt.where];
  attempt.rollback();
  return proveYes(context, { capacities, domain, nodes: pool.nodes, where, assumptions });
}

const cluster = (attempt: Attempt, name: string): NodeFacts => attempt.cluster.node(name) as NodeFacts;

interface Found {
  readonly capacities: readonly Capacity[];
  readonly domain: Domain | undefined;
  readonly nodes: readonly NodeFacts[];
  readonly where: readonly Assignment[];
  readonly assumptions: readonly Assumption[];
}

/** Whether the scheduler that places the pods finds places too, which one that does not search may not. */
function proveYes(
  context: Context,
  { assumptions, capacities, domain, nodes, where }: Found,
): Exclude<Answer, { fits: 'No' }> {
  const { ask, attempt, effort, kinds, need } = context;
  const yes = (proof: 'Witness' | 'OnePod' | 'OrderFree' | 'Sampled', more: readonly Assumption[] = []): Answer => ({
    fits: 'Yes',
    where,
    ...(domain && { domain }),
    proof,
    confidence: confidenceOf([...assumptions, ...more]),
  });
  const answer = (): Answer => {
    if (ask.pods.length === 1) return yes('OnePod');
    if (isOrderFree(capacities, attempt.cluster)) return yes('OrderFree');
    if (ask.pods.every((pod) => ask.searches?.(pod) === true)) return yes('Witness');
    const depends: Answer = { fits: 'Unknown', because: { reason: 'DependsOnOrder' }, where, confidence: EXACT };
    if (!firstChoiceIsFree(context, nodes)) return depends;
    const sampled = new Effort(Math.max(effort.left, SEARCH_LIMIT) * 20);
    if (holdsInSamples(kinds, nodes, { attempt, effort: sampled, need })) return yes('Sampled', ['OrderSampled']);
    return sampled.spent ? { fits: 'Unknown', because: { reason: 'SearchLimit' }, where, confidence: EXACT } : depends;
  };
  return answer() as Exclude<Answer, { fits: 'No' }>;
}

/**
 * Where pods want to be near each other and the first may go anywhere, its choice decides for all: the group must fit
 * in every domain that the first can enter.
 */
function firstChoiceIsFree(context: Context, nodes: readonly NodeFacts[]): boolean {
  const { attempt, effort, kinds, need } = context;
  const labelsOf = (namespace: string) => attempt.cluster.namespaceLabels.get(namespace);
  for (const { sample } of kinds) {
    const question = attempt.ask(sample);
    if (question.affinity?.firstOfItsKind !== true) continue;
    for (const term of sample.podTerms.affinity) {
      const near = kinds.filter((kind) =>
        kind.sample.podTerms.affinity.some(
          (own) => own.topologyKey === term.topologyKey && matchesPodTerm(own, sample, labelsOf(sample.namespace)),
        ),
      );
      const entered = new Set<string>();
      for (const node of nodes) {
        const value = node.labels[term.topologyKey];
        if (value !== undefined && checkNode(question, node) === undefined) entered.add(value);
      }
      if (entered.size < 2) continue;
      for (const value of entered) {
        const inside = poolOf(nodes.filter(({ labels }) => labels[term.topologyKey] === value));
        const wanted = near.reduce((sum, { pods }) => sum + pods.length, 0) - (context.ask.pods.length - need);
        const placed = placeTightest(near, inside, { attempt, effort });
        attempt.rollback();
        if (placed < wanted) return false;
      }
    }
  }
  return true;
}

/** What keeps a yes from being told at all. */
function findUnknown(kinds: readonly Kind[], attempt: Attempt): UnknownReason | undefined {
  for (const { sample } of kinds) {
    if (sample.badInput !== undefined) {
      return { reason: 'BadInput', what: `pod ${nameOf(sample)}: ${sample.badInput}` };
    }
    if (sample.deviceClaims > 0 && !attempt.cluster.devices.known) {
      return { reason: 'NotReadable', what: 'resourceclaims, resourceslices, deviceclasses' };
    }
    const { devices } = attempt.ask(sample);
    if (devices?.notChecked !== undefined && devices.everywhere === undefined) {
      return { reason: 'NotChecked', what: devices.notChecked };
    }
  }
  return undefined;
}

const KNOWN_SCHEDULERS: ReadonlySet<string> = new Set(['default-scheduler', 'quorate-scheduler']);

function assumptionsOf(pods: readonly PodFacts[], { volumes }: Cluster): Assumption[] {
  const found = new Set<Assumption>();
  for (const { claims, pod } of pods) {
    const { nodeName, schedulerName, schedulingGates } = pod.spec ?? {};
    if (nodeName) found.add('BypassesScheduler');
    if ((schedulingGates?.length ?? 0) > 0) found.add('GateLifted');
    if (schedulerName && !KNOWN_SCHEDULERS.has(schedulerName)) found.add('ForeignScheduler');
    if (claims.length === 0) continue;
    if (!volumes.known) found.add('VolumesNotKnown');
    else if (claims.some((name) => volumes.claimOf(pod, name)?.state === 'Unbound')) found.add('VolumeProvisioning');
  }
  return [...found];
}

/** A composite in each domain that its topology leaves open, until one takes all of it. */
function tryComposite(ask: GroupAsk, children: readonly GroupAsk[], cluster: Cluster): Tried {
  const all = membersOf(ask);
  const [first] = all.pods;
  if (first === undefined || (ask.topology ?? []).every(({ mode }) => mode !== 'Required')) {
    return tryChildren(ask, children, cluster);
  }
  const domains = domainsFor({ ...ask, ...all }, cluster);
  if ('refused' in domains) {
    return refuse(first, domains.refused, 'Domain', all.pods.length, { domains: domains.values });
  }
  let best: Extract<Tried, { fits: 'Yes' }> | undefined;
  let failed: Exclude<Tried, { fits: 'Yes' }> | undefined;
  for (const { domain } of domains.domains) {
    const tried = tryChildren(
      { ...ask, within: { labels: { ...ask.within?.labels, ...domain.labels } } },
      children,
      cluster,
    );
    if (tried.fits !== 'Yes') {
      // What cannot be told of one domain cannot be told of all.
      if (failed === undefined || (failed.fits === 'No' && tried.fits === 'Unknown')) failed = tried;
    } else if (best === undefined || tried.where.length > best.where.length) {
      best = { ...tried, domain };
      if (best.where.length === all.pods.length) break;
    }
  }
  return best ?? failed ?? { fits: 'Unknown', because: { reason: 'SearchLimit' }, confidence: EXACT };
}

/** All pods of a composite, and where its members stand. */
function membersOf({
  children,
  leaving = [],
  pods,
  staying = [],
}: GroupAsk): Pick<GroupAsk, 'pods' | 'staying' | 'leaving'> {
  const below = (children ?? []).map(membersOf);
  return {
    pods: [...pods, ...below.flatMap((one) => one.pods)],
    staying: [...staying, ...below.flatMap((one) => one.staying ?? [])],
    leaving: [...leaving, ...below.flatMap((one) => one.leaving ?? [])],
  };
}

/** Children in the order they are declared, each beside those before it. */
function tryChildren(ask: GroupAsk, children: readonly GroupAsk[], cluster: Cluster): Tried {
  const need = ask.need === 'all' ? children.length : ask.need;
  const attempt = new Attempt(cluster, ask.unit);
  const assumptions: Assumption[] = [...(ask.assumptions ?? [])];
  const where: Assignment[] = [];
  let satisfied = 0;
  let failed: Exclude<Tried, { fits: 'Yes' }> | undefined;
  const shared = { ...(ask.searches && { searches: ask.searches }), ...(ask.within && { within: ask.within }) };
  for (const child of children) {
    const answer = tryGroup({ ...child, ...shared }, cluster);
    if (answer.fits !== 'Yes') {
      failed ??= answer.fits === 'No' ? explained(child, answer, cluster) : answer;
      continue;
    }
    satisfied += 1;
    where.push(...answer.where);
    if (answer.confidence.kind === 'assumed') assumptions.push(...answer.confidence.list);
    for (const { node, pod } of answer.where) attempt.place(pod, cluster.node(node) as NodeFacts);
  }
  attempt.rollback();
  if (satisfied < need && failed !== undefined) return failed;
  return { fits: 'Yes', where, proof: 'Witness', confidence: confidenceOf(assumptions) };
}

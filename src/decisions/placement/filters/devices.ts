import type { DeviceToleration, ExactDeviceRequest } from '../../../api/generated/resource-v1.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { type DeviceBook, type DeviceFacts, isTainted, type PodClaim } from '../cluster/device-book.ts';
import { type DeviceCondition, meets, readSelectors } from '../cluster/device-selector.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import { matchesNodeTerms } from '../cluster/node-selection.ts';
import type { PodFacts } from '../cluster/pod-facts.ts';
import type { Constraint } from './constraint.ts';

/** So many devices of one kind, for one claim. */
interface Wanted {
  readonly claim: string;
  readonly key: string;
  readonly deviceClass: string;
  readonly conditions: readonly DeviceCondition[];
  readonly tolerations: readonly DeviceToleration[];
  readonly count: number | 'All';
}

export interface DeviceQuestion {
  readonly book: DeviceBook;
  readonly everywhere: Constraint | undefined;
  /** Why counting devices does not decide; the answer is then not known. */
  readonly notChecked: string | undefined;
  readonly allocated: readonly PodClaim[];
  readonly wanted: readonly Wanted[];
  /** Extended resources that devices can stand in for, where the node has none. */
  readonly backed: ReadonlyMap<number, Wanted>;
}

const MAX_CONSUMERS = 256;

/** Undefined when the pod asks for no devices, or nothing is known of any. */
export function askDevices(pod: PodFacts, { devices: book, resources }: Cluster): DeviceQuestion | undefined {
  if (!book.known) return undefined;
  const backed = new Map<number, Wanted>();
  for (const { amount, slot } of pod.requests) {
    const name = resources.names[slot] ?? '';
    const found = name.includes('/') ? book.classFor(name) : undefined;
    if (found === undefined) continue;
    backed.set(slot, {
      claim: name,
      key: `${pod.uid} ${name}`,
      deviceClass: found.name,
      conditions: found.conditions ?? [],
      tolerations: [],
      count: amount,
    });
  }
  if (pod.deviceClaims === 0 && backed.size === 0) return undefined;
  const question = { book, backed, allocated: [] as PodClaim[], wanted: [] as Wanted[] };
  let everywhere: Constraint | undefined;
  let notChecked = [...backed.values()].some(
    ({ deviceClass }) => book.classNamed(deviceClass)?.conditions === undefined,
  )
    ? 'DeviceSelector'
    : undefined;
  for (const claim of book.claimsOf(pod.pod)) {
    const answer = readClaim(claim, book);
    everywhere ??= answer.refused;
    notChecked ??= answer.notChecked;
    if (answer.allocated) question.allocated.push(claim);
    else question.wanted.push(...answer.wanted);
  }
  return { ...question, everywhere, notChecked: notChecked ?? findOdd(question, book) };
}

interface ReadClaim {
  readonly refused?: Constraint;
  readonly notChecked?: string;
  readonly allocated?: boolean;
  readonly wanted: Wanted[];
}

function readClaim(claim: PodClaim, book: DeviceBook): ReadClaim {
  const { name, state } = claim;
  const refused = (cause: 'TemplateMissing' | 'ClassMissing' | 'InUse', deviceClass?: string): ReadClaim => ({
    refused: { filter: 'DynamicResources', claim: name, cause, ...(deviceClass && { deviceClass }) },
    wanted: [],
  });
  if (claim.missing) return refused('TemplateMissing');
  if (state !== undefined && state.reservedFor.length >= MAX_CONSUMERS) return refused('InUse');
  if (state !== undefined && book.isAllocated(state)) return { allocated: true, wanted: [] };
  if ((claim.spec?.devices?.constraints?.length ?? 0) > 0) return { notChecked: 'Constraints', wanted: [] };
  const wanted: Wanted[] = [];
  for (const { exactly, firstAvailable } of claim.spec?.devices?.requests ?? []) {
    const classes = exactly === undefined ? (firstAvailable ?? []) : [exactly];
    const gone = classes.find(({ deviceClassName }) => book.classNamed(deviceClassName) === undefined);
    if (gone !== undefined) return refused('ClassMissing', gone.deviceClassName);
    if (exactly === undefined) return { notChecked: 'FirstAvailable', wanted: [] };
    if (exactly.capacity !== undefined) return { notChecked: 'Capacity', wanted: [] };
    if (exactly.adminAccess === true) continue;
    const one = readRequest(exactly, claim, book);
    if (one === undefined) return { notChecked: 'DeviceSelector', wanted: [] };
    wanted.push(one);
  }
  return { wanted };
}

function readRequest(request: ExactDeviceRequest, { key, name }: PodClaim, book: DeviceBook): Wanted | undefined {
  const { allocationMode, count = 1, deviceClassName, selectors, tolerations = [] } = request;
  const own = selectors === undefined ? [] : readSelectors(selectors);
  const conditions = book.classNamed(deviceClassName)?.conditions;
  if (own === undefined || conditions === undefined) return undefined;
  return {
    claim: name,
    key,
    deviceClass: deviceClassName,
    conditions: [...conditions, ...own],
    tolerations,
    count: allocationMode === 'All' ? 'All' : count,
  };
}

/** Something about the devices themselves that counting does not cover. */
function findOdd(
  { backed, wanted }: { wanted: readonly Wanted[]; backed: ReadonlyMap<number, Wanted> },
  book: DeviceBook,
): string | undefined {
  for (const { conditions } of [...wanted, ...backed.values()]) {
    const drivers = conditions.flatMap((one) => ('driver' in one ? [one.driver] : []));
    for (const driver of book.incomplete) if (drivers.length === 0 || drivers.includes(driver)) return 'IncompletePool';
    for (const device of book.every()) {
      const found = meets(device, conditions);
      if (found === 'missing') return 'DeviceAttribute';
      if (found && device.odd !== undefined) return device.odd;
    }
  }
  return undefined;
}

export function checkDevices(question: DeviceQuestion, node: NodeFacts): Constraint | undefined {
  if (question.everywhere !== undefined) return question.everywhere;
  // What counting does not decide is no refusal; whoever needs to know asks for `notChecked`.
  if (question.notChecked !== undefined) return undefined;
  for (const { name, state } of question.allocated) {
    const terms = state?.allocation?.terms;
    if (terms !== undefined && !matchesNodeTerms(terms, node.labels, node.name)) {
      return { filter: 'DynamicResources', claim: name, cause: 'ElsewhereAllocated' };
    }
  }
  const answer = match(question, node);
  return 'grants' in answer ? undefined : answer;
}

export interface DeviceGrant {
  readonly key: string;
  readonly devices: readonly string[];
}

/** The devices a pod would be given on a node; empty where there are not enough. */
export function chooseDevices(question: DeviceQuestion, node: NodeFacts): readonly DeviceGrant[] {
  const answer = match(question, node);
  return 'grants' in answer ? answer.grants : [];
}

/** Gives every request its devices: each request is matched with devices, others step aside where they can. */
function match(question: DeviceQuestion, node: NodeFacts): Constraint | { readonly grants: readonly DeviceGrant[] } {
  const { book } = question;
  const wanted = question.wanted.filter(({ key }) => {
    const given = book.givenFor(key);
    return given === undefined;
  });
  for (const { claim, key } of question.wanted) {
    const given = book.givenFor(key);
    if (given !== undefined && given.node !== node.name) {
      return { filter: 'DynamicResources', claim, cause: 'ElsewhereAllocated' };
    }
  }
  for (const [slot, one] of question.backed) if ((node.allocatable[slot] ?? 0) <= 0) wanted.push(one);
  if (wanted.length === 0) return { grants: [] };
  const taken = book.taken();
  const reachable = book.reachable(node);
  const owner = new Map<string, Wanted>();
  const held = new Map<Wanted, Set<string>>();
  const suits = (one: Wanted, device: DeviceFacts): boolean =>
    meets(device, one.conditions) === true && !isTainted(device, one.tolerations);
  for (const one of wanted) {
    const matching = reachable.filter((device) => suits(one, device));
    const free = matching.filter(({ id }) => !taken.has(id));
    const count = one.count === 'All' ? matching.length : one.count;
    const short = (has: number): Constraint => ({
      filter: 'DynamicResources',
      claim: one.claim,
      cause: 'Count',
      deviceClass: one.deviceClass,
      asked: Math.max(count, 1),
      free: has,
    });
    if (one.count === 'All' && (matching.length === 0 || free.length < matching.length)) return short(free.length);
    held.set(one, new Set());
    for (let have = 0; have < count; have += 1) {
      if (!augment(one, { free: reachable.filter(({ id }) => !taken.has(id)), owner, held, suits }, new Set())) {
        return short(free.filter(({ id }) => !owner.has(id) || owner.get(id) === one).length);
      }
    }
  }
  const grants = new Map<string, string[]>();
  for (const [{ key }, devices] of held) grants.set(key, [...(grants.get(key) ?? []), ...devices].sort());
  return { grants: [...grants].map(([key, devices]) => ({ key, devices })) };
}

interface Matching {
  readonly free: readonly DeviceFacts[];
  readonly owner: Map<string, Wanted>;
  readonly held: Map<Wanted, Set<string>>;
  readonly suits: (one: Wanted, device: DeviceFacts) => boolean;
}

function augment(one: Wanted, matching: Matching, seen: Set<string>): boolean {
  const { free, held, owner, suits } = matching;
  for (const device of free) {
    if (seen.has(device.id) || held.get(one)?.has(device.id) || !suits(one, device)) continue;
    seen.add(device.id);
    const other = owner.get(device.id);
    if (other !== undefined && !augment(other, matching, seen)) continue;
    if (other !== undefined) held.get(other)?.delete(device.id);
    owner.set(device.id, one);
    held.get(one)?.add(device.id);
    return true;
  }
  return false;
}

import type { Pod } from '../../../api/generated/core-v1.ts';
import { formatKey, type KubeObject, type ObjectKey } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import {
  decideHold,
  HOLD_FOR,
  HOLD_GRANT,
  HOLD_MEMBERS,
  HOLD_SIZE,
  HOLD_UNTIL,
  type HoldMember,
  isPlaceholder,
  shortUid,
} from '../../../decisions/capacity/index.ts';
import {
  type Client,
  type Clock,
  type EventRecorder,
  type Informer,
  isNotFound,
  type ReconcileResult,
  settled,
  type Wake,
  type Watch,
  watch,
} from '../../../machinery/runtime/index.ts';
import { parseTime } from '../../../machinery/values/index.ts';

/** Looked at again while members wait: a try that failed may have cleared what they were promised. */
const RENOMINATE_MS = 1_000;
const MAX_BACKOFF_MS = 160;

/** A member of a unit that room is held for. */
export interface HeldPod {
  readonly name: string;
  readonly uid: string;
  /** Serves, by the count of the budget. */
  readonly up: boolean;
}

/** Whose room it is, by the placeholders that stand for it. */
export interface HeldUnit {
  readonly namespace: string;
  readonly budget: string;
  readonly unit: string;
  /** When room was first held for it. */
  readonly heldAt: number;
}

/** Budgets of one kind, and what they count. */
export interface HoldingBudgets {
  readonly kind: string;
  /** Undefined once it is gone. */
  readonly get: (key: ObjectKey) => KubeObject | undefined;
  /** Names of the budgets that a pod counts for, in its namespace. */
  readonly concernedBy: (pod: Pod) => Iterable<string>;
  /** The unit's members; of a pod that stands alone, those that came after the room was held. */
  readonly membersOf: (held: HeldUnit) => { readonly pods: readonly HeldPod[]; readonly minCount: number };
}

export interface HoldDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly pods: Informer<Pod>;
  readonly holding: HoldingBudgets;
  /** Budgets under which placeholders were seen. */
  readonly held: Set<string>;
}

const budgetOf = ({ metadata }: Pod, { kind }: HoldingBudgets): string | undefined =>
  metadata.ownerReferences?.find((owner) => owner.kind === kind)?.name;

/** Budgets under which room is held, by the placeholders and by the pods of the units they are held for. */
function watchHolds({ held, holding, pods }: Pick<HoldDeps, 'held' | 'holding' | 'pods'>): Watch[] {
  const concerned = (pod: Pod): Wake[] => {
    const { namespace = '' } = pod.metadata;
    if (isPlaceholder(pod)) {
      const budget = budgetOf(pod, holding);
      if (budget === undefined) return [];
      const key = formatKey({ namespace, name: budget });
      held.add(key);
      return [key];
    }
    if (held.size === 0) return [];
    const keys = [...new Set(holding.concernedBy(pod))].map((budget) => formatKey({ namespace, name: budget }));
    return keys.filter((key) => held.has(key));
  };
  return [watch(pods, { added: concerned, updated: concerned, deleted: concerned })];
}

/**
 * Looks after the room that placeholders hold under one budget: hands it to the members when they are back, and gives it
 * back when the unit is whole, its time is over, or the budget is gone. Everything is read from the objects, so that
 * whoever comes after a crash goes on where this left off.
 */
async function reconcileHolds(deps: HoldDeps, key: ObjectKey): Promise<ReconcileResult> {
  const { namespace = '', name } = key;
  if (!deps.held.has(formatKey(key))) return settled;
  const byUnit = new Map<string, Pod[]>();
  for (const pod of deps.pods.list(namespace)) {
    if (!isPlaceholder(pod) || budgetOf(pod, deps.holding) !== name) continue;
    const unit = pod.metadata.annotations?.[HOLD_FOR] ?? '';
    byUnit.set(unit, [...(byUnit.get(unit) ?? []), pod]);
  }
  if (byUnit.size === 0) deps.held.delete(formatKey(key));
  let next: number | undefined;
  for (const [unit, placeholders] of byUnit) {
    const afterMs = await lookAfter(deps, { namespace, budget: name, unit, placeholders });
    if (afterMs !== undefined) next = Math.min(next ?? afterMs, afterMs);
  }
  return next === undefined ? settled : { requeueAfterMs: next };
}

/** The loop of a controller of budgets that looks after what they hold. */
export const holdLoop = (name: string) =>
  ({
    name,
    workers: 1,
    backOff: { maxDelayMs: MAX_BACKOFF_MS },
    watches: watchHolds,
    reconcile: reconcileHolds,
  }) as const;

/** What is told of room that was given back before its unit was whole again. */
const GIVEN_BACK: Readonly<Partial<Record<string, { readonly event: string; readonly why: string }>>> = {
  Expired: { event: 'HoldExpired', why: 'its time is over and the group is not whole' },
  NotBound: { event: 'ReserveFailed', why: 'the scheduler found no place for a placeholder within a minute' },
};

interface Held {
  readonly namespace: string;
  readonly budget: string;
  readonly unit: string;
  readonly placeholders: readonly Pod[];
}

async function lookAfter(deps: HoldDeps, held: Held): Promise<number | undefined> {
  const { clock, events, holding } = deps;
  const { budget, namespace, placeholders } = held;
  const now = clock.now();
  const annotations = placeholders[0]?.metadata.annotations ?? {};
  const until = parseTime(annotations[HOLD_UNTIL]) ?? now;
  const { members, minCount } = membersOf(deps, held);
  const decision = decideHold({
    placeholders: placeholders.map(({ metadata, spec }) => ({
      name: metadata.name ?? '',
      node: spec?.nodeName ?? '',
      going: metadata.deletionTimestamp !== undefined,
      createdAt: parseTime(metadata.creationTimestamp) ?? now,
    })),
    grant: annotations[HOLD_GRANT] ?? '',
    size: Number(annotations[HOLD_SIZE] ?? placeholders.length),
    until,
    members,
    minCount,
    now,
  });
  const all = placeholders.map(({ metadata }) => metadata.name ?? '');
  const known = holding.get({ namespace, name: budget });
  if (decision.action === 'Release' || known === undefined) {
    await release(deps, held, all);
    const told = decision.action === 'Release' ? GIVEN_BACK[decision.reason] : undefined;
    if (told !== undefined && known !== undefined) {
      events.record(known, 'Warning', told.event, `the room held for ${held.unit} was given back: ${told.why}`);
    }
    return undefined;
  }
  if (decision.action === 'HandOver') {
    for (const { node, pod } of decision.nominations) await nominate(deps, { namespace, name: pod }, node);
    await release(deps, held, decision.release);
  }
  const waits = members.some(({ going, node }) => !going && node === '');
  const unbound = placeholders.some(({ spec }) => !spec?.nodeName);
  return waits || unbound ? RENOMINATE_MS : Math.max(0, until - now);
}

function membersOf({ holding, pods }: HoldDeps, { budget, namespace, placeholders, unit }: Held) {
  const heldAt = Math.min(...placeholders.map(({ metadata }) => parseTime(metadata.creationTimestamp) ?? 0));
  const before = new Set(placeholders[0]?.metadata.annotations?.[HOLD_MEMBERS]?.split(','));
  const { minCount, pods: found } = holding.membersOf({ namespace, budget, unit, heldAt });
  const members = found.map(({ name, uid, up }): HoldMember => {
    const { metadata, spec, status } = pods.get({ namespace, name }) ?? { metadata: {} };
    return {
      name,
      uid,
      node: spec?.nodeName ?? '',
      going: metadata.deletionTimestamp !== undefined,
      up,
      isNew: !before.has(shortUid(uid)),
      nominated: status?.nominatedNodeName ?? '',
    };
  });
  return { members, minCount };
}

async function nominate({ client }: HoldDeps, key: ObjectKey, node: string): Promise<void> {
  const body = { status: { nominatedNodeName: node } };
  await client.patch(podType, key, { type: 'merge', body }, { subresource: 'status' }).catch(unlessGone);
}

async function release(
  { client }: HoldDeps,
  { namespace, placeholders }: Held,
  names: readonly string[],
): Promise<void> {
  for (const { metadata } of placeholders) {
    const { deletionTimestamp, name = '', uid } = metadata;
    if (!names.includes(name) || deletionTimestamp !== undefined) continue;
    await client.delete(podType, { namespace, name }, { preconditions: { uid } }).catch(unlessGone);
  }
}

function unlessGone(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

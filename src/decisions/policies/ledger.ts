import type {
  DisruptionPolicyStatus,
  LedgerDisruption,
  LedgerOutage,
  PolicyLedgerGroup,
} from '../../api/quorate/disruption-policy.ts';
import { formatMicroTime, formatTime, parseTime } from '../../machinery/values/index.ts';
import { type PolicyFacts, RESERVED_MS } from './facts.ts';
import type { GroupNow } from './limits.ts';

const DAY_MS = 24 * 3_600_000;
const MAX_OUTAGES = 64;

/** A departure that limits let pass. */
export interface PolicyCharge {
  readonly group: Pick<GroupNow, 'group' | 'wholeSince'>;
  readonly pod: { readonly name: string; readonly uid: string };
  readonly by: string;
  readonly way: string;
  readonly now: number;
  /** It disrupts the group; otherwise the pod is only noted as going. */
  readonly begins: boolean;
  /** The group is given notice first: the disruption is kept for it, and no pod goes yet. */
  readonly reserve?: { readonly notice: string; readonly until: number } | undefined;
}

/** Enters a disruption before its first pod goes; one under way already is gone on with. */
export function chargedLedger(
  status: DisruptionPolicyStatus | undefined,
  charge: PolicyCharge,
): DisruptionPolicyStatus {
  const { begins, by, group, now, pod, reserve, way } = charge;
  const ledger = [...(status?.ledger ?? [])];
  const at = ledger.findIndex((one) => one.group === group.group);
  const known: PolicyLedgerGroup = ledger[at] ?? {
    group: group.group,
    ...(group.wholeSince !== undefined && { firstWholeAt: formatTime(group.wholeSince) }),
  };
  const { disruptions = [], going = [] } = known;
  const last = disruptions.at(-1);
  const isOpen = last?.state === 'Reserved' && reservedUntil(last) > now;
  const time = formatMicroTime(now);
  const begun: LedgerDisruption = {
    at: time,
    by,
    way,
    state: 'Reserved',
    ...(reserve !== undefined && { until: formatMicroTime(reserve.until), notice: reserve.notice }),
  };
  const next: PolicyLedgerGroup = {
    ...known,
    ...(begins && { disruptions: isOpen ? disruptions : [...disruptions, begun] }),
    ...(reserve === undefined && {
      going: [...going.filter(({ uid }) => uid !== pod.uid), { pod: pod.name, uid: pod.uid, at: time }],
    }),
  };
  if (at < 0) ledger.push(next);
  else ledger[at] = next;
  return { ...status, since: status?.since ?? formatTime(now), ledger };
}

/** Until when a disruption is kept for pods that have not gone. */
export const reservedUntil = ({ at, until }: Pick<LedgerDisruption, 'at' | 'until'>): number =>
  (parseTime(until ?? at) ?? 0) + RESERVED_MS;

/**
 * The ledger at the end of a notice: the disruption that was kept for it begins now, or never came about. Undefined where
 * nothing was kept.
 */
export function withNoticeEnded(
  status: DisruptionPolicyStatus | undefined,
  { begins, notice, now }: { readonly notice: string; readonly begins: boolean; readonly now: number },
): DisruptionPolicyStatus | undefined {
  const isKept = (one: LedgerDisruption): boolean => one.notice === notice && one.state === 'Reserved';
  if (!(status?.ledger ?? []).some(({ disruptions = [] }) => disruptions.some(isKept))) return undefined;
  const end = (one: LedgerDisruption): LedgerDisruption[] => {
    if (!isKept(one)) return [one];
    const { notice: _notice, until: _until, ...rest } = one;
    return begins ? [{ ...rest, at: formatMicroTime(now) }] : [];
  };
  const ledger = (status?.ledger ?? []).map(({ disruptions, ...rest }) => {
    const left = (disruptions ?? []).flatMap(end);
    return left.length === 0 ? rest : { ...rest, disruptions: left };
  });
  return { ...status, ledger };
}

/** The pods of a group that were let go a moment ago, by uid. */
export function goingIn(status: DisruptionPolicyStatus | undefined, group: string, now: number): string[] {
  const known = status?.ledger?.find((one) => one.group === group);
  return (known?.going ?? []).flatMap(({ at, uid }) => ((parseTime(at) ?? 0) + RESERVED_MS > now ? [uid] : []));
}

/** What pods show of a policy's groups now. */
export interface SeenGroups {
  readonly groups: readonly Pick<GroupNow, 'group' | 'isWhole' | 'wholeSince'>[];
  /** This very pod is there and stays. */
  readonly stays: (pod: string, uid: string) => boolean;
  readonly now: number;
}

/**
 * Brings a ledger to what is seen now: who is down, who is whole again, what was let go and never went. Groups without
 * any pod are down. What no limit asks about any more is dropped.
 */
export function observedLedger(
  policy: Pick<PolicyFacts, 'limits'>,
  before: readonly PolicyLedgerGroup[],
  { groups, now, stays }: SeenGroups,
): PolicyLedgerGroup[] {
  const known = new Map(before.map((one) => [one.group, one]));
  const seen = new Set(groups.map(({ group }) => group));
  const look = (one: PolicyLedgerGroup, group: SeenGroups['groups'][number]): PolicyLedgerGroup =>
    settle(policy, group.isWhole ? whole(one, group, { now, stays }) : down(one, now), now);
  const present = groups.map((group) => look(known.get(group.group) ?? { group: group.group }, group));
  const absent = before
    .filter(({ group }) => !seen.has(group))
    .map((one) => look(one, { group: one.group, isWhole: false, wholeSince: undefined }))
    .filter((one) => matters(policy, one, now));
  return [...present, ...absent].sort((a, b) => (a.group < b.group ? -1 : 1));
}

function whole(
  one: PolicyLedgerGroup,
  { wholeSince }: Pick<GroupNow, 'wholeSince'>,
  { now, stays }: Pick<SeenGroups, 'now' | 'stays'>,
): PolicyLedgerGroup {
  const { downSince, firstWholeAt, going = [], ...rest } = one;
  const first = firstWholeAt ?? formatTime(Math.min(wholeSince ?? now, now));
  if (downSince !== undefined) {
    const outage: LedgerOutage = { from: downSince, to: formatTime(now), voluntary: isVoluntary(one) };
    const outages = [...(one.down ?? []), outage];
    return { ...rest, firstWholeAt: first, wholeAt: formatTime(now), disruptions: gone(one), down: outages };
  }
  const last = one.disruptions?.at(-1);
  const isRecent = (entry: { readonly at: string; readonly until?: string | undefined }): boolean =>
    reservedUntil(entry) > now;
  const fresh = going.filter(isRecent);
  if (last?.state !== 'Reserved') return { ...rest, firstWholeAt: first, ...(fresh.length > 0 && { going: fresh }) };
  if (isRecent(last)) return { ...rest, firstWholeAt: first, going };
  // It is over: it went and came back unseen, or it never went.
  const went = going.length === 0 || going.some(({ pod, uid }) => !stays(pod, uid));
  return { ...rest, firstWholeAt: first, disruptions: went ? gone(one) : (one.disruptions ?? []).slice(0, -1) };
}

function down(one: PolicyLedgerGroup, now: number): PolicyLedgerGroup {
  // What never was whole cannot go down.
  if (one.firstWholeAt === undefined || one.downSince !== undefined) return one;
  const { going: _going, ...rest } = one;
  const downSince = formatTime(now);
  if (one.disruptions?.at(-1)?.state === 'Reserved') return { ...rest, downSince, disruptions: gone(one) };
  const seen: LedgerDisruption = { at: formatMicroTime(now), way: 'Unknown', state: 'Gone', involuntary: true };
  return { ...rest, downSince, disruptions: [...(one.disruptions ?? []), seen] };
}

const gone = ({ disruptions = [] }: PolicyLedgerGroup): LedgerDisruption[] =>
  disruptions.map((one) => (one.state === 'Gone' ? one : { ...one, state: 'Gone' }));

const isVoluntary = ({ disruptions = [] }: PolicyLedgerGroup): boolean => disruptions.at(-1)?.involuntary !== true;

/** Drops what is older than any limit asks about. Times that nobody needs stay out. */
function settle({ limits }: Pick<PolicyFacts, 'limits'>, one: PolicyLedgerGroup, now: number): PolicyLedgerGroup {
  const { disruptions, down: outages, ...rest } = one;
  const oldest = now - longestMs(limits);
  const kept = (disruptions ?? []).filter(({ at, state }) => state === 'Reserved' || (parseTime(at) ?? 0) > oldest);
  const recent = joined((outages ?? []).filter(({ to }) => (parseTime(to) ?? 0) > now - DAY_MS));
  return { ...rest, ...(kept.length > 0 && { disruptions: kept }), ...(recent.length > 0 && { down: recent }) };
}

function longestMs(limits: PolicyFacts['limits']): number {
  const periods = limits === undefined ? [] : limits.rates.map(({ perMs }) => perMs);
  return Math.max(DAY_MS, limits?.minInterval?.ms ?? 0, ...periods);
}

function matters({ limits }: Pick<PolicyFacts, 'limits'>, one: PolicyLedgerGroup, now: number): boolean {
  const since = parseTime(one.downSince);
  return (
    one.disruptions !== undefined || one.down !== undefined || (since !== undefined && since > now - longestMs(limits))
  );
}

/** Beyond a number the two with the smallest gap become one, which is stricter. */
function joined(outages: readonly LedgerOutage[]): LedgerOutage[] {
  const list = [...outages];
  while (list.length > MAX_OUTAGES) {
    let at = 1;
    for (let next = 1; next < list.length; next += 1) if (gap(list, next) < gap(list, at)) at = next;
    const [first, second] = [list[at - 1], list[at]];
    if (first === undefined || second === undefined) return list;
    list.splice(at - 1, 2, { from: first.from, to: second.to, voluntary: first.voluntary || second.voluntary });
  }
  return list;
}

const gap = (list: readonly LedgerOutage[], at: number): number =>
  (parseTime(list[at]?.from) ?? 0) - (parseTime(list[at - 1]?.to) ?? 0);

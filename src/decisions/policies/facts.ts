import type { DisruptionPolicy, NoticeTerms, PolicyLedgerGroup } from '../../api/quorate/disruption-policy.ts';
import { parseDurationMs, parseTime } from '../../machinery/values/index.ts';
import { OpenTimes } from '../windows/index.ts';
import { type PolicySelection, readSelection } from './selection.ts';

/** What limits need to know of a policy. Times are milliseconds. */
export interface PolicyFacts {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly selection: PolicySelection;
  readonly limits: LimitFacts | undefined;
  /** How its groups are told before they go. */
  readonly notice: NoticeFactsOfPolicy | undefined;
  readonly ledger: ReadonlyMap<string, GroupLedger>;
  /** Every disruption of its ledger, the oldest first. */
  readonly disruptions: readonly KnownDisruption[];
  /** The newest time in its ledger: a clock set back does not loosen a limit. */
  readonly newest: number;
}

export interface NoticeFactsOfPolicy {
  readonly durationMs: number;
  readonly terms: NoticeTerms;
}

export interface LimitFacts {
  readonly rates: readonly { readonly count: number; readonly perMs: number; readonly per: string }[];
  readonly minInterval: Period | undefined;
  readonly afterRecovery: Period | undefined;
  readonly afterStart: Period | undefined;
  readonly windows: OpenTimes | undefined;
  readonly secondsPerDay: number | undefined;
  readonly countsAll: boolean;
}

/** A duration, and its words. */
export interface Period {
  readonly ms: number;
  readonly text: string;
}

export interface KnownDisruption {
  readonly group: string;
  readonly at: number;
  readonly isOpen: boolean;
  /** Its group is given notice. */
  readonly isKept: boolean;
  /** Until when it is kept for pods that have not gone. */
  readonly openUntil: number;
  readonly isVoluntary: boolean;
}

export interface GroupLedger {
  readonly firstWholeAt: number | undefined;
  readonly wholeAt: number | undefined;
  readonly downSince: number | undefined;
  readonly disruptions: readonly KnownDisruption[];
  readonly down: readonly { readonly from: number; readonly to: number; readonly voluntary: boolean }[];
}

/** How long a departure that was let pass counts while the pod does not go. */
export const RESERVED_MS = 120_000;

export function readPolicy(policy: DisruptionPolicy, known?: PolicyFacts): PolicyFacts {
  const { metadata, spec = {}, status } = policy;
  const { generation = 0, name = '', namespace = '', uid = '' } = metadata;
  const isKnown = known?.uid === uid && known.generation === generation && generation > 0;
  const ledger = new Map((status?.ledger ?? []).map((group) => [group.group, readGroup(group)]));
  const disruptions = [...ledger.values()].flatMap((group) => group.disruptions).sort((a, b) => a.at - b.at);
  const times = [...ledger.values()].flatMap(({ downSince = 0, wholeAt = 0 }) => [downSince, wholeAt]);
  return {
    namespace,
    name,
    uid,
    generation,
    selection: isKnown ? known.selection : readSelection(spec),
    limits: isKnown ? known.limits : readLimits(spec.limits),
    notice:
      spec.notice === undefined
        ? undefined
        : { durationMs: parseDurationMs(spec.notice.duration) ?? 0, terms: spec.notice },
    ledger,
    disruptions,
    newest: Math.max(disruptions.at(-1)?.at ?? 0, ...times),
  };
}

function readLimits(limits: NonNullable<DisruptionPolicy['spec']>['limits']): LimitFacts | undefined {
  if (limits === undefined) return undefined;
  const { counts, maxDisruptionSecondsPerDay, maxDisruptions = [], minInterval, settle = {}, windows = [] } = limits;
  return {
    rates: maxDisruptions.map(({ count, per }) => ({
      count,
      perMs: parseDurationMs(per) ?? 0,
      per: goDuration(parseDurationMs(per) ?? 0),
    })),
    minInterval: periodOf(minInterval),
    afterRecovery: periodOf(settle.afterRecovery),
    afterStart: periodOf(settle.afterStart),
    windows: windows.length === 0 ? undefined : new OpenTimes(windows),
    secondsPerDay: maxDisruptionSecondsPerDay,
    countsAll: counts === 'All',
  };
}

function periodOf(text: string | undefined): Period | undefined {
  const ms = text === undefined ? undefined : parseDurationMs(text);
  return ms === undefined ? undefined : { ms, text: goDuration(ms) };
}

/** As Go prints it, such as `24h0m0s`. */
function goDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = `${seconds % 60}s`;
  return hours > 0 ? `${hours}h${minutes}m${rest}` : minutes > 0 ? `${minutes}m${rest}` : rest;
}

function readGroup({ disruptions = [], down = [], group, ...times }: PolicyLedgerGroup): GroupLedger {
  return {
    firstWholeAt: parseTime(times.firstWholeAt),
    wholeAt: parseTime(times.wholeAt),
    downSince: parseTime(times.downSince),
    disruptions: disruptions.map(({ at, involuntary, state, until }) => ({
      group,
      at: parseTime(at) ?? 0,
      isOpen: state === 'Reserved',
      isKept: until !== undefined,
      openUntil: (parseTime(until ?? at) ?? 0) + RESERVED_MS,
      isVoluntary: involuntary !== true,
    })),
    down: down.map(({ from, to, voluntary }) => ({ from: parseTime(from) ?? 0, to: parseTime(to) ?? 0, voluntary })),
  };
}

/** What a watcher of pods knows: which went and why, which groups are down, and whether a limit was passed. */
import type { Pod } from '../../src/api/generated/core-v1.ts';
import type { DisruptionPolicySpec } from '../../src/api/quorate/disruption-policy.ts';
import { isInWindow, millisecondsOf } from './policies.ts';

/** Only those who agree first write these. */
const VOLUNTARY = new Set(['EvictionByEvictionAPI', 'GroupEviction', 'PlannedMaintenance']);
/** Events of one moment are seen one after the other, and times of the API are whole seconds. */
const BLUR_MS = 2000;
const DAY_MS = 24 * 3_600_000;

export interface Fleet {
  readonly name: string;
  readonly mostDown: number;
  policy: DisruptionPolicySpec;
  /** Since when it is like that. */
  since: number;
}

export interface Gang {
  readonly name: string;
  readonly fleet: Fleet;
  readonly size: number;
}

interface Outage {
  readonly from: number;
  readonly voluntary: boolean;
  to?: number;
}

interface Known {
  readonly ready: boolean;
  readonly going: boolean;
  readonly gang: string | undefined;
}

export class Oracle {
  readonly violations: string[] = [];
  /** Pods that went, by uid: when, and whether somebody or something took them. */
  readonly went = new Map<string, { readonly at: number; readonly taken: boolean; readonly name: string }>();
  voluntary = 0;
  readonly #gangs: ReadonlyMap<string, Gang>;
  readonly #now: () => number;
  readonly #pods = new Map<string, Known>();
  readonly #up = new Map<string, number>();
  readonly #outages = new Map<string, Outage[]>();
  readonly #deleted: ReadonlySet<string>;

  /** `deleted`: pods that were deleted by hand, which nothing on them says. */
  constructor(gangs: readonly Gang[], deleted: ReadonlySet<string>, now: () => number) {
    this.#gangs = new Map(gangs.map((gang) => [gang.name, gang]));
    this.#deleted = deleted;
    this.#now = now;
  }

  see(type: string, { metadata, spec, status }: Pod): void {
    const { name = '', uid = '' } = metadata;
    const conditions = status?.conditions ?? [];
    const before = this.#pods.get(uid);
    const isGone = type === 'DELETED';
    const going = isGone || metadata.deletionTimestamp !== undefined;
    const isReady = conditions.some((one) => one.type === 'Ready' && one.status === 'True');
    const gang =
      before?.gang ?? (spec as { schedulingGroup?: { podGroupName?: string } }).schedulingGroup?.podGroupName;
    const next: Known = { ready: isReady && !going, going, gang };
    const target = conditions.find((one) => one.type === 'DisruptionTarget' && one.status === 'True')?.reason;
    if (going && before?.going !== true) {
      const taken = target !== undefined || this.#deleted.has(uid);
      this.went.set(uid, { at: this.#now(), taken, name });
    }
    if (isGone) this.#pods.delete(uid);
    else this.#pods.set(uid, next);
    const change = Number(next.ready) - Number(before?.ready === true);
    if (gang === undefined || change === 0) return;
    const isVoluntary = going && VOLUNTARY.has(target ?? '');
    this.#count(gang, change, isVoluntary);
  }

  get down(): string[] {
    return [...this.#gangs.keys()].filter((name) => !this.#isWhole(name));
  }

  #isWhole(name: string): boolean {
    return (this.#up.get(name) ?? 0) >= (this.#gangs.get(name)?.size ?? 0);
  }

  #count(name: string, change: number, voluntary: boolean): void {
    const gang = this.#gangs.get(name);
    if (gang === undefined) return;
    const was = this.#isWhole(name);
    this.#up.set(name, (this.#up.get(name) ?? 0) + change);
    const is = this.#isWhole(name);
    const outages = this.#outages.get(name) ?? [];
    this.#outages.set(name, outages);
    if (was && !is) {
      if (voluntary) this.#judge(gang);
      outages.push({ from: this.#now(), voluntary });
    }
    const last = outages.at(-1);
    if (!was && is && last !== undefined) last.to = this.#now();
  }

  /** A whole gang is let go down: was that within its budget and its policy? */
  #judge({ fleet, name }: Gang): void {
    this.voluntary += 1;
    const now = this.#now();
    const say = (text: string): void =>
      void this.violations.push(`${new Date(now).toISOString()} ${name} of ${fleet.name}: ${text}`);
    const others = [...this.#gangs.values()].filter((one) => one.fleet === fleet && one.name !== name);
    const down = others.filter((one) => !this.#isWhole(one.name)).length;
    if (down >= fleet.mostDown) say(`${down} others were down, at most ${fleet.mostDown} may be`);
    const { limits, notice } = fleet.policy;
    if (limits === undefined) return;
    const counted = (one: Outage): boolean => one.from >= fleet.since && (limits.counts === 'All' || one.voluntary);
    const ofFleet = [...others, { name }].flatMap((one) => this.#outages.get(one.name) ?? []).filter(counted);
    for (const { count, per } of limits.maxDisruptions ?? []) {
      const within = ofFleet.filter(({ from }) => from > now - millisecondsOf(per) + BLUR_MS).length;
      if (within >= count) say(`${within} began within ${per}, at most ${count} may`);
    }
    const own = this.#outages.get(name) ?? [];
    const last = own.filter(counted).at(-1);
    if (limits.minInterval !== undefined && last && last.from > now - millisecondsOf(limits.minInterval) + BLUR_MS)
      say(`it was disrupted within ${limits.minInterval}`);
    // What a notice was begun on may be otherwise when it ends.
    if (notice !== undefined) return;
    const { settle, windows = [] } = limits;
    const whole = own.at(-1)?.to;
    if (settle?.afterRecovery && whole !== undefined && whole > now - millisecondsOf(settle.afterRecovery) + BLUR_MS)
      say(`it came back within ${settle.afterRecovery}`);
    if (windows.length > 0 && !windows.some((one) => isInWindow(one, now))) say('no window is open');
    const most = limits.maxDisruptionSecondsPerDay;
    const seconds = own
      .filter(counted)
      .reduce((sum, { from, to = now }) => sum + Math.max(0, to - Math.max(from, now - DAY_MS)) / 1000, 0);
    if (most !== undefined && seconds > most + own.length * (BLUR_MS / 1000)) say(`it was down ${seconds} s in a day`);
  }
}

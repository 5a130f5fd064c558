/** Budgets under which nothing but refusals has been answered for a while: whoever drains is stuck. */
import type { Condition } from '../api/generated/meta-v1.ts';
import type { DisruptionLedgerStatus } from '../api/quorate/types.ts';
import type { Clock } from '../machinery/runtime/index.ts';
import { formatTime, parseTime } from '../machinery/values/index.ts';
import { DRAIN_BLOCKED } from './blocked-condition.ts';
import type { Judged, TellJudged } from './judged.ts';
import type { LedgerDesk } from './ledger-desk.ts';

/** Refusals for so long, and nothing but refusals, are worth telling. */
export const BLOCKED_MS = 60_000;
/** It is told once in this time. */
export const TELL_AGAIN_MS = 600_000;
/** Nobody asks any more: whoever drained has given up, or is done. */
const QUIET_MS = 300_000;

interface Streak {
  readonly namespace: string;
  readonly budget: string;
  /** Of the first refusal since something was granted; undefined after a grant. */
  sinceMs: number | undefined;
  lastMs: number;
  reportedMs: number | undefined;
  isReporting: boolean;
}

export interface DrainReportsOptions {
  readonly ledgers: Pick<LedgerDesk, 'read' | 'write'>;
  /** The API server's: other replicas read the times that are written. */
  readonly clock: Clock;
}

/**
 * Follows what one replica answers, and says in a budget's ledger when it has answered nothing but refusals for a
 * minute. The leader makes an event of that: a thousand refusals are one line for whoever looks.
 */
export class DrainReports {
  readonly #options: DrainReportsOptions;
  readonly #streaks = new Map<string, Streak>();

  constructor(options: DrainReportsOptions) {
    this.#options = options;
  }

  readonly judged: TellJudged = ({ name, namespace }, judged) => {
    const { budget, result } = judged;
    if (budget === undefined || result === 'dry_run' || result === 'passed') return;
    const nowMs = this.#options.clock.now();
    const streak = this.#streakOf(namespace, budget, nowMs);
    const isRefused = result === 'refused';
    if (!isRefused) streak.sinceMs = undefined;
    else if (streak.sinceMs === undefined || nowMs - streak.lastMs > QUIET_MS) streak.sinceMs = nowMs;
    streak.lastMs = nowMs;
    if (isRefused && isDue(streak, nowMs)) void this.#report(streak, name, judged);
  };

  /** For how long each budget has refused everything. */
  *refused(): Iterable<{ namespace: string; budget: string; seconds: number }> {
    const nowMs = this.#options.clock.now();
    for (const { budget, lastMs, namespace, sinceMs } of this.#streaks.values()) {
      const isOver = sinceMs === undefined || nowMs - lastMs > QUIET_MS;
      yield { namespace, budget, seconds: isOver ? 0 : (nowMs - sinceMs) / 1000 };
    }
  }

  forget(namespace: string, budget: string): void {
    this.#streaks.delete(`${namespace}/${budget}`);
  }

  #streakOf(namespace: string, budget: string, lastMs: number): Streak {
    const key = `${namespace}/${budget}`;
    const known = this.#streaks.get(key);
    if (known !== undefined) return known;
    const made = { namespace, budget, sinceMs: undefined, lastMs, reportedMs: undefined, isReporting: false };
    this.#streaks.set(key, made);
    return made;
  }

  async #report(streak: Streak, pod: string, judged: Judged): Promise<void> {
    const { clock, ledgers } = this.#options;
    streak.isReporting = true;
    try {
      const ledger = await ledgers.read(streak.namespace, streak.budget);
      if (ledger?.status === undefined) return;
      const nowMs = clock.now();
      const { conditions = [] } = ledger.status;
      const said = conditions.find(({ type }) => type === DRAIN_BLOCKED);
      // Another replica was first.
      const saidMs = said?.status === 'True' ? parseTime(said.lastTransitionTime) : undefined;
      if (saidMs === undefined || nowMs - saidMs >= TELL_AGAIN_MS) {
        const condition: Condition = {
          type: DRAIN_BLOCKED,
          status: 'True',
          reason: judged.reason,
          message: messageOf(ledger.status, { pod, judged, sinceMs: streak.sinceMs ?? nowMs }),
          lastTransitionTime: formatTime(nowMs),
        };
        const others = conditions.filter((one) => one !== said);
        await ledgers.write(ledger, { ...ledger.status, conditions: [...others, condition] });
      }
      streak.reportedMs = saidMs !== undefined && nowMs - saidMs < TELL_AGAIN_MS ? saidMs : nowMs;
    } catch {
      // Whoever was faster, and whatever is wrong: the next refusal tries again.
    } finally {
      streak.isReporting = false;
    }
  }
}

function isDue({ isReporting, reportedMs, sinceMs }: Streak, nowMs: number): boolean {
  if (isReporting || sinceMs === undefined || nowMs - sinceMs < BLOCKED_MS) return false;
  return reportedMs === undefined || nowMs - reportedMs >= TELL_AGAIN_MS;
}

function messageOf(
  { currentHealthy = 0, desiredHealthy = 0, expectedPods = 0 }: DisruptionLedgerStatus,
  { judged, pod, sinceMs }: { pod: string; judged: Judged; sinceMs: number },
): string {
  const whose = judged.group === undefined ? '' : ` of group ${judged.group}`;
  const numbers = `${currentHealthy} of ${expectedPods} groups are available, ${desiredHealthy} must stay`;
  return `Every eviction has been refused since ${formatTime(sinceMs)} (${judged.reason}): ${numbers}. The last was of pod ${pod}${whose}. "quorate why" says what it waits for.`;
}

import type { HistoryEntry } from '../../../api/quorate/disruption-history.ts';
import type { KubeObject } from '../../../api/resource.ts';
import type { RecordNews } from '../../../decisions/history/index.ts';
import type { Clock, EventRecorder, Metrics } from '../../../machinery/runtime/index.ts';
import { formatAge } from '../../../machinery/values/index.ts';

const A_MINUTE_MS = 60_000;

/** Says in metrics and Events what was entered. */
export interface HistoryMeters {
  readonly count: (news: readonly RecordNews[]) => void;
  /** Since when something waits to be written; undefined: nothing does. */
  waitsSince: number | undefined;
}

export function openMeters(
  metrics: Metrics,
  clock: Clock,
  size: () => { readonly entries: number; readonly bytes: number },
): HistoryMeters {
  const disruptions = metrics.counter('quorate_disruptions_total');
  const refusals = metrics.counter('quorate_disruption_refusals_total');
  const down = metrics.histogram('quorate_group_down_seconds');
  const meters: HistoryMeters = {
    waitsSince: undefined,
    count(news) {
      for (const { entry, what } of news) {
        const { groupSeconds, outcome, voluntary, way } = entry;
        if (outcome === 'Refused') refusals.inc({ kind: kindOf(entry), reason: entry.reason ?? 'Unknown' });
        else if (what === 'New') disruptions.inc({ way, outcome, voluntary: String(voluntary) });
        else if (what === 'Ended' && groupSeconds !== undefined) down.observe({ way }, groupSeconds);
      }
    },
  };
  metrics.countedGauge('quorate_history_entries', () => [[{}, size().entries]]);
  metrics.countedGauge('quorate_history_bytes', () => [[{}, size().bytes]]);
  metrics.countedGauge('quorate_history_lag_seconds', () => {
    const { waitsSince } = meters;
    return [[{}, waitsSince === undefined ? 0 : Math.max(0, clock.now() - waitsSince) / 1000]];
  });
  return meters;
}

/** What kind of object refused, by the first cause of the answer. */
function kindOf({ reason = '' }: HistoryEntry): string {
  if (reason === 'DisruptionPolicy') return 'DisruptionPolicy';
  if (reason === 'DisruptionBudget' || reason === 'MultipleBudgets') return 'PodDisruptionBudget';
  return /unavailable/i.test(reason) ? 'PodUnavailableBudget' : 'Other';
}

export interface HistoryTelling {
  readonly events: EventRecorder;
  readonly subjects: ReadonlyMap<string, KubeObject>;
  /** When a refusal of a group was last told. */
  readonly told: Map<string, number>;
  readonly now: number;
}

/** One Event for each disruption on what made the pods, and at most one a minute for refusals of a group. */
export function tellDisruptions({ events, now, subjects, told }: HistoryTelling, news: readonly RecordNews[]): void {
  for (const { entry, what } of news) {
    const subject = subjects.get(entry.id);
    if (subject === undefined) continue;
    if (entry.outcome === 'Refused') {
      if (now - (told.get(entry.group) ?? -Infinity) < A_MINUTE_MS) continue;
      told.set(entry.group, now);
      events.record(subject, 'Warning', 'DisruptionRefused', `${entry.group}: ${entry.message ?? entry.reason ?? ''}`);
    } else if (what === 'New') {
      events.record(subject, entry.voluntary ? 'Normal' : 'Warning', 'Disrupted', words(entry));
    } else if (what === 'Ended' && entry.end === 'Whole') {
      const down = formatAge((entry.groupSeconds ?? 0) * 1000);
      events.record(subject, 'Normal', 'WholeAgain', `${entry.group} is whole again after ${down}`);
    }
  }
  for (const [group, at] of told) if (now - at >= A_MINUTE_MS) told.delete(group);
}

function words({ cause, group, outcome, pods, podsTotal, way, who }: HistoryEntry): string {
  const by = who === undefined ? '' : ` by ${who}`;
  const why = cause === undefined ? '' : ` (${cause.kind} ${cause.name}${cause.reason ? `, ${cause.reason}` : ''})`;
  const [first] = pods;
  const what = podsTotal === 1 && first !== undefined ? first.name : `${podsTotal} pods`;
  return `${group}: ${what} ${outcome === 'Expired' ? 'could have gone and did not' : 'went'}: ${way}${by}${why}`;
}

import { WINDOW_DAYS, WINDOW_START, type Window } from '../../api/quorate/window.ts';
import { parseDurationMs } from '../../machinery/values/index.ts';
import { LocalTime } from './local-time.ts';

/** Times are exclusive ends: at `until` it is closed, at `opensAt` it is open. */
export type WindowAnswer =
  /** `until` is absent where no end is in sight. */
  | { readonly open: true; readonly until?: number | undefined }
  /** `opensAt` is absent where no window ever opens. */
  | { readonly open: false; readonly opensAt?: number | undefined };

interface Span {
  readonly from: number;
  readonly to: number;
}

interface Opening {
  readonly days: ReadonlySet<number>;
  /** After midnight, on clocks of the zone. */
  readonly startMs: number;
  readonly durationMs: number;
  readonly zone: LocalTime;
}

const DAY_MS = 24 * 3_600_000;
/** A start that clocks skip moves later, by less than two days; a week and that is sure to hold every day once. */
const LOOK_BACK_DAYS = 3;
const LOOK_AHEAD_DAYS = 9;

/**
 * When windows are open. A window is `[start on that local day, + duration of elapsed time)`: its days are those it
 * starts on, it may cross midnight, and clocks that change do not make it shorter or longer. Windows that overlap or
 * touch are one. No windows at all: always open. The windows must be valid.
 */
export class OpenTimes {
  readonly #openings: readonly Opening[];
  /** The last answer holds in this span: most questions come close together. */
  #known: (Span & { readonly answer: WindowAnswer }) | undefined;

  constructor(windows: readonly Window[]) {
    this.#openings = windows.map(openingOf);
  }

  /** Whether a moment lies in a window, and until when, or when the next one opens. */
  at(moment: number): WindowAnswer {
    if (this.#openings.length === 0) return { open: true };
    const known = this.#known;
    if (known !== undefined && known.from <= moment && moment < known.to) return known.answer;
    const answer = this.#answer(moment);
    const end = answer.open ? answer.until : answer.opensAt;
    // Where no end is in sight it is so for longer than a day.
    this.#known = { from: moment, to: end ?? moment + DAY_MS, answer };
    return answer;
  }

  /**
   * The first moment, not before the one given, at which something so long begins and ends in one window. The end of a
   * window is not in it. Undefined where no window is long enough.
   */
  fits(moment: number, lengthMs: number): number | undefined {
    let from: number | undefined = moment;
    while (from !== undefined && from <= moment + LOOK_AHEAD_DAYS * DAY_MS) {
      const answer = this.at(from);
      if (!answer.open) {
        if (answer.opensAt === undefined) return undefined;
        from = answer.opensAt;
      } else if (answer.until === undefined || from + lengthMs < answer.until) return from;
      else from = answer.until;
    }
    return undefined;
  }

  #answer(moment: number): WindowAnswer {
    const spans = this.#openings
      .flatMap((opening) => spansOf(opening, moment))
      .toSorted((a, b) => a.from - b.from || a.to - b.to);
    const horizon = moment + (LOOK_AHEAD_DAYS - 2) * DAY_MS;
    let open: number | undefined;
    for (const { from, to } of spans) {
      if (to <= moment) continue;
      if (from > (open ?? moment)) {
        if (open === undefined) return { open: false, opensAt: from };
        break;
      }
      open = Math.max(open ?? to, to);
    }
    if (open === undefined) return { open: false };
    return open > horizon ? { open: true } : { open: true, until: open };
  }
}

function openingOf({ days, duration, start, timeZone }: Window): Opening {
  const [, hours = '0', minutes = '0'] = WINDOW_START.exec(start) ?? [];
  const named = days === undefined || days.length === 0 ? [...WINDOW_DAYS] : days;
  return {
    days: new Set(named.map((day) => (WINDOW_DAYS as readonly string[]).indexOf(day))),
    startMs: (Number(hours) * 60 + Number(minutes)) * 60_000,
    durationMs: parseDurationMs(duration) ?? 0,
    zone: new LocalTime(timeZone ?? 'UTC'),
  };
}

/** The spans of one window around a moment. */
function spansOf({ days, durationMs, startMs, zone }: Opening, moment: number): Span[] {
  const today = Math.floor(zone.shownAt(moment) / DAY_MS);
  const spans: Span[] = [];
  for (let day = today - LOOK_BACK_DAYS; day <= today + LOOK_AHEAD_DAYS; day += 1) {
    if (!days.has(new Date(day * DAY_MS).getUTCDay())) continue;
    const from = zone.momentOf(day * DAY_MS + startMs);
    spans.push({ from, to: from + durationMs });
  }
  return spans;
}

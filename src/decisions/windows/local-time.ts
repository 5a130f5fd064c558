const DAY_MS = 24 * 3_600_000;

/** Clocks of one time zone. */
export class LocalTime {
  readonly #format: Intl.DateTimeFormat;

  /** @throws {RangeError} when there is no such zone */
  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /** What clocks show at a moment, written as if it were UTC. */
  shownAt(moment: number): number {
    const whole = Math.floor(moment / 1000) * 1000;
    const parts: Record<string, number> = {};
    for (const { type, value } of this.#format.formatToParts(whole)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) + (moment - whole);
  }

  /**
   * The first moment at which clocks show a time; where they skip it, the first moment after the gap. `shown` is written
   * as if it were UTC.
   */
  momentOf(shown: number): number {
    const [before, after] = [this.#offsetAt(shown - DAY_MS), this.#offsetAt(shown + DAY_MS)];
    const found = [shown - before, shown - after].filter((moment) => this.shownAt(moment) === shown);
    return found.length > 0 ? Math.min(...found) : this.#afterGap(shown);
  }

  #offsetAt(moment: number): number {
    return this.shownAt(moment) - moment;
  }

  /** Clocks jump over `shown`: the moment of the jump, to the second. */
  #afterGap(shown: number): number {
    let [early, late] = [shown - DAY_MS - 1000, shown + DAY_MS];
    early = Math.floor(early / 1000) * 1000;
    late = Math.floor(late / 1000) * 1000;
    while (late - early > 1000) {
      const middle = Math.floor((early + late) / 2000) * 1000;
      if (this.shownAt(middle) > shown) late = middle;
      else early = middle;
    }
    return late;
  }
}

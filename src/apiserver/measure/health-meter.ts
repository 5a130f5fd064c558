/** What the checks of health said, for those who hold a server to its service levels. */
export interface CheckSeries {
  readonly name: string;
  /** Where it was asked for: healthz, livez or readyz. */
  readonly type: string;
  success: number;
  error: number;
  isWell: boolean;
}

export class HealthMeter {
  readonly #series = new Map<string, CheckSeries>();

  checked(name: string, type: string, isWell: boolean): void {
    const key = `${type}/${name}`;
    let series = this.#series.get(key);
    if (series === undefined) this.#series.set(key, (series = { name, type, success: 0, error: 0, isWell }));
    series[isWell ? 'success' : 'error'] += 1;
    series.isWell = isWell;
  }

  series(): Iterable<CheckSeries> {
    return this.#series.values();
  }
}

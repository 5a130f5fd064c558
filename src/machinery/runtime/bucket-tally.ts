/**
 * A histogram without labels, for the paths where every request passes: a handful of additions, and no object or text per
 * observation. Who keeps several knows by itself which is whose, and says so when somebody reads them.
 */
export class BucketTally {
  readonly bounds: readonly number[];
  /** How many were at most the bound of the same place, and above the one before; the last are above all. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at += 1;
    counts[at] = (counts[at] as number) + 1;
    this.sum += value;
  }
}

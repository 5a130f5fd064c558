export interface AskedGroup {
  /** `disruptionMode: all`. */
  readonly whole: boolean;
  readonly minCount: number;
  readonly healthy: number;
  /** Healthy members that somebody asks for. */
  readonly asked: number;
}

/**
 * Whether a pod of a group goes with all of it. First match wins:
 *  1. the group goes as one by its own word: all
 *  2. it is below its minimum already: the pod alone
 *  3. without the pods that are asked for it would be below: all
 *  4. the pod alone
 */
export function goesTogether({ asked, healthy, minCount, whole }: AskedGroup): boolean {
  if (whole) return true;
  return healthy >= minCount && healthy - asked < minCount;
}

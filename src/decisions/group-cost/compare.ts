/** What decides which of several units goes first. */
export interface CostedUnit {
  /** `namespace/name`. */
  readonly id: string;
  /** Fewer healthy members than it needs, one of them on its way out, or an eviction of it granted: it is down anyway. */
  readonly broken: boolean;
  readonly cost: number;
  /** The group's own, else the smallest of its members'. */
  readonly priority: number;
  /** When it last became whole, if known, else when its youngest member was made; in milliseconds. */
  readonly startedAt: number;
  readonly pods: number;
}

/**
 * The unit that goes first comes first. First that differs: broken before whole, the cheaper, the less important, the
 * younger, the smaller, then by name; no two units are equal.
 */
export function compareCost(a: CostedUnit, b: CostedUnit): number {
  return (
    Number(b.broken) - Number(a.broken) ||
    a.cost - b.cost ||
    a.priority - b.priority ||
    Math.floor(b.startedAt / 1000) - Math.floor(a.startedAt / 1000) ||
    a.pods - b.pods ||
    (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  );
}

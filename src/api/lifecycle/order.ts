interface Ordered {
  readonly name: string;
  readonly priority?: number | undefined;
}

/**
 * Whose turn comes first:
 *  1. the higher priority; none at all comes last
 *  2. the domain, by its labels from the top down, so that a domain comes before its subdomains
 *  3. the part after the slash
 */
export function compareResponders(a: Ordered, b: Ordered): number {
  if (a.priority !== b.priority) {
    if (a.priority === undefined) return 1;
    if (b.priority === undefined) return -1;
    return b.priority - a.priority;
  }
  const [one, other] = [partsOf(a.name), partsOf(b.name)];
  for (const [at, label] of one.domain.entries()) {
    const against = other.domain[at];
    if (against === undefined) return 1;
    if (label !== against) return label < against ? -1 : 1;
  }
  if (other.domain.length > one.domain.length) return -1;
  if (one.key === other.key) return 0;
  return one.key < other.key ? -1 : 1;
}

function partsOf(name: string): { domain: string[]; key: string } {
  const slash = name.indexOf('/');
  const domain = (slash === -1 ? name : name.slice(0, slash)).split('.').reverse();
  return { domain, key: slash === -1 ? '' : name.slice(slash + 1) };
}

export function inOrder<T extends Ordered>(responders: readonly T[]): T[] {
  return [...responders].sort(compareResponders);
}

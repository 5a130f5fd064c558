import type { DisruptionLedgerStatus } from '../../api/quorate/types.ts';

/** How long a grant is listed when nothing is seen of it: as long as Kubernetes counts its own. */
export const GRANT_MS = 120_000;
/** The longest that an API server can still be working on a request. */
export const EXECUTION_MS = 60_000;

/**
 * Pods that count as gone, whatever they look like, because their eviction was let pass and may still be carried out: by
 * name, their UIDs, or `*` for every pod of the name. They count for as long as they are listed; only the controller
 * ends a grant, and says how new pods must be to judge without it.
 */
export type Claims = ReadonlyMap<string, readonly string[]>;

const ANY = '*';

/** What the grants of a ledger make of pods; undefined where the status is not that of a ledger. */
export function readClaims(status: DisruptionLedgerStatus | undefined): Claims | undefined {
  if (status?.grants === undefined) return undefined;
  const claims = new Map<string, string[]>();
  for (const { name, pinned, uid } of status.grants) {
    // An eviction that is not pinned may hit whatever pod has the name.
    const claimed = pinned === undefined ? ANY : uid;
    const others = claims.get(name);
    if (others === undefined) claims.set(name, [claimed]);
    else others.push(claimed);
  }
  return claims;
}

export function isClaimedBy(claims: Claims | undefined, name: string, uid: string): boolean {
  return claims?.get(name)?.some((one) => one === uid || one === ANY) === true;
}

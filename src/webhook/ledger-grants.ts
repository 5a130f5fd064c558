/** The list of grants in a ledger, and the numbers that follow from it. */
import type { DisruptionLedgerStatus, LedgerGrant } from '../api/quorate/types.ts';
import { unblocked, wholeSeconds } from './blocked-condition.ts';
import { type DisruptionIndex, recountedNumbers } from '../decisions/disruption/index.ts';

/** More than this under one budget mean that the controller is not keeping up. */
export const MAX_GRANTS = 2000;

export const isSamePod = (a: Pick<LedgerGrant, 'name' | 'uid'>, b: Pick<LedgerGrant, 'name' | 'uid'>): boolean =>
  a.uid === b.uid && a.name === b.name;

export const grantOf = (
  { grants }: DisruptionLedgerStatus,
  pod: Pick<LedgerGrant, 'name' | 'uid'>,
): LedgerGrant | undefined => grants?.find((one) => isSamePod(one, pod));

/** One entry per pod: what was granted later takes the place of what was granted before. */
export function withGrants(
  status: DisruptionLedgerStatus,
  added: readonly LedgerGrant[],
): DisruptionLedgerStatus & { grants: LedgerGrant[] } {
  const grants = new Map((status.grants ?? []).map((one) => [keyOf(one), one]));
  const disruptedPods = { ...status.disruptedPods };
  for (const grant of added) {
    const key = keyOf(grant);
    const listed = grants.get(key);
    if (listed !== undefined && listed.at > grant.at) continue;
    grants.set(key, grant);
    // For replicas that know only names.
    disruptedPods[grant.name] = wholeSeconds(grant.at);
  }
  const last = added.reduce((latest, { at }) => (at > latest ? at : latest), '');
  const conditions = unblocked(status.conditions, last);
  return { ...status, ...(conditions && { conditions }), grants: [...grants.values()], disruptedPods };
}

/** Takes a grant off the list, unless it is another by now; `before` is what stood there then. */
export function withoutGrant(
  status: DisruptionLedgerStatus,
  grant: LedgerGrant,
  before: LedgerGrant | undefined,
): DisruptionLedgerStatus | undefined {
  const listed = grantOf(status, grant);
  if (listed === undefined || listed.at !== grant.at || listed.by !== grant.by) return undefined;
  const others = (status.grants ?? []).filter((one) => one !== listed);
  const grants = before === undefined ? others : [...others, before];
  const disruptedPods = { ...status.disruptedPods };
  const last = grants.find(({ name }) => name === grant.name);
  if (last === undefined) delete disruptedPods[grant.name];
  else disruptedPods[grant.name] = wholeSeconds(last.at);
  return { ...status, grants, disruptedPods };
}

/** The status with the numbers that its grants and the pods known here make, and never what is left of older ones. */
export function recounted(
  index: DisruptionIndex,
  { name = '', namespace = '' }: { name?: string | undefined; namespace?: string | undefined },
  status: DisruptionLedgerStatus,
  now: number,
): DisruptionLedgerStatus {
  return { ...status, ...recountedNumbers(index, { namespace, name, status, now }) };
}

const keyOf = ({ name, uid }: LedgerGrant): string => `${name}/${uid}`;

/** LeaderWorkerSet's own group labels repeat across sets, so a group under them is named by set and value. */
const LWS_PREFIX = 'leaderworkerset.sigs.k8s.io/';
export const LWS_NAME_LABEL = `${LWS_PREFIX}name`;
export const LWS_SIZE_ANNOTATION = `${LWS_PREFIX}size`;

export function isLeaderWorkerSetKey(groupLabelKey: string): boolean {
  return groupLabelKey === `${LWS_PREFIX}group-index` || groupLabelKey === `${LWS_PREFIX}group-key`;
}

type Labels = Readonly<Record<string, string>> | undefined;

/** The group a pod belongs to under a label key, `set/value` for LeaderWorkerSet's keys; undefined when in none. */
export function groupIdentity(groupLabelKey: string, labels: Labels): string | undefined {
  const value = labels?.[groupLabelKey];
  if (value === undefined || value === '') return undefined;
  if (!isLeaderWorkerSetKey(groupLabelKey)) return value;
  return `${labels?.[LWS_NAME_LABEL] ?? ''}/${value}`;
}

/** The group size a pod declares; undefined when it declares none. */
export function declaredSize(annotations: Labels): number | undefined {
  const size = Number(annotations?.[LWS_SIZE_ANNOTATION]);
  return Number.isInteger(size) && size > 0 ? size : undefined;
}

export interface GroupMember {
  readonly identity: string;
  readonly active: boolean;
  /** Available in the sense of the budget: active, consistent, ready, and in neither ledger map. */
  readonly available: boolean;
  readonly declaredSize: number | undefined;
}

export interface CountedGroup {
  readonly identity: string;
  readonly active: number;
  readonly ready: number;
  readonly size: number | undefined;
}

/** Gathers members into groups. Terminating members count towards a group's existence, not its readiness. */
export function gatherGroups(members: Iterable<GroupMember>): Map<string, CountedGroup> {
  const groups = new Map<string, CountedGroup>();
  for (const member of members) {
    const group = groups.get(member.identity) ?? { identity: member.identity, active: 0, ready: 0, size: undefined };
    const size = Math.max(group.size ?? 0, member.declaredSize ?? 0);
    groups.set(member.identity, {
      identity: member.identity,
      active: group.active + (member.active ? 1 : 0),
      ready: group.ready + (member.available ? 1 : 0),
      size: size > 0 ? size : undefined,
    });
  }
  return groups;
}

export function isGroupAvailable(group: CountedGroup, minReadyReplicas = 1): boolean {
  return group.ready >= minReadyReplicas;
}

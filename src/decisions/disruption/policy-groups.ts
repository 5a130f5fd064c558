import { parseTime } from '../../machinery/values/index.ts';
import type { GroupNow, PolicyFacts } from '../policies/index.ts';
import { groupAsOne } from './as-one.ts';
import { distanceOf } from './composite.ts';
import type { NamespaceIndex } from './namespace-index.ts';
import type { CountedPod } from './pod-facts.ts';
import { type NoticeQuestion, targetOf } from './known-notices.ts';
import type { GroupBy } from './group-by.ts';
import type { PodRecord, Unit } from './records.ts';

/** A departure, as DisruptionPolicies see it. */
export interface LimitQuestion {
  readonly now: GroupNow;
  readonly policies: readonly PolicyFacts[];
}

/** What a group was called and who is in it. */
interface PolicyGroup {
  readonly group: string;
  readonly unit: Unit | undefined;
  readonly members: readonly PodRecord[];
  readonly groupBy?: GroupBy | undefined;
}

/** A group as it is now. */
export interface GroupAround {
  /** KIND/NAME. */
  readonly group: string;
  readonly isWhole: boolean;
  readonly needed: number;
  /** Pods that are Ready and not going. */
  readonly up: number;
  readonly members: readonly CountedPod[];
  /** Its members are disrupted together. */
  readonly together: boolean;
  /** A pod on its own. */
  readonly isSingle: boolean;
}

export function groupAround(index: NamespaceIndex, record: PodRecord): GroupAround {
  const found = groupOf(index, record);
  const { group, members, unit } = found;
  const { isWhole } = groupNow(record.facts.namespace, found, { gone: 0 });
  return {
    group,
    isWhole,
    needed: unit?.minCount ?? 1,
    up: unit?.up ?? members.filter((one) => one.up).length,
    members: members.map(({ facts }) => facts),
    together: unit?.whole === true,
    isSingle: unit === undefined,
  };
}

/**
 * The group of a pod under policies: the one it names, else that of its LeaderWorkerSet, else the one that a budget counts
 * it in, else the pod itself.
 */
function groupOf({ policyGroupings }: NamespaceIndex, record: PodRecord): PolicyGroup {
  for (const grouping of policyGroupings(record)) {
    const unit = record.places?.get(grouping)?.unit;
    if (unit === undefined) continue;
    return { group: grouping.nameOf(unit), unit, members: [...unit.members.keys()], groupBy: grouping.groupBy };
  }
  return { group: `Pod/${record.facts.name}`, unit: undefined, members: [record] };
}

/** `gone` counts members that went before, in a decision about several. */
export function limitQuestion(
  index: NamespaceIndex,
  record: PodRecord,
  gone: (group: string) => number,
): LimitQuestion | undefined {
  const group = groupOf(index, record);
  const policies = index.policies.over(
    group.members.map(({ facts }) => facts),
    index.workloadOf,
  );
  if (policies.length === 0) return undefined;
  return { policies, now: groupNow(record.facts.namespace, group, { record, gone: gone(group.group) }) };
}

/** Which notice is due before a pod goes, or under way already. */
export function noticeQuestion(index: NamespaceIndex, record: PodRecord): NoticeQuestion {
  const found = groupOf(index, record);
  const { group, groupBy, members, unit } = found;
  const over = index.policies.over(
    members.map(({ facts }) => facts),
    index.workloadOf,
  );
  let policy: NoticeQuestion['policy'];
  for (const { name, notice } of over) {
    if (notice !== undefined && notice.durationMs > (policy?.durationMs ?? -1)) policy = { name, ...notice };
  }
  const concerned = [...index.notices.values()].filter(
    (one) => one.group === group || one.members.has(record.facts.uid),
  );
  const { isWhole, takesDown } = groupNow(record.facts.namespace, found, { record, gone: 0 });
  return {
    group,
    target: targetOf(record.facts, groupBy, unit !== undefined),
    disrupts: isWhole && (takesDown || groupAsOne(index, record) !== undefined),
    running: concerned.find(({ undeliveredAt }) => undeliveredAt === undefined),
    undelivered: concerned.find(({ undeliveredAt }) => undeliveredAt !== undefined),
    policy,
  };
}

/** All groups that a policy speaks for, as they are now. */
export function groupsUnder(index: NamespaceIndex, policy: string): GroupNow[] {
  const seen = new Map<string, GroupNow | undefined>();
  for (const record of index.pods.values()) {
    const group = groupOf(index, record);
    if (seen.has(group.group)) continue;
    const over = index.policies.over(
      group.members.map(({ facts }) => facts),
      index.workloadOf,
    );
    const isMeant = over.some(({ name }) => name === policy);
    seen.set(group.group, isMeant ? groupNow(record.facts.namespace, group, { gone: 0 }) : undefined);
  }
  return [...seen.values()].filter((one) => one !== undefined);
}

function groupNow(
  namespace: string,
  { group, members, unit }: PolicyGroup,
  { gone, record }: { readonly record?: PodRecord; readonly gone: number },
): GroupNow {
  const up = (unit?.up ?? members.filter((one) => one.up).length) - gone;
  const needed = unit?.minCount ?? 1;
  const isWhole = unit?.tree === undefined ? up >= needed : gone === 0 && isTreeWhole(unit);
  return {
    namespace,
    group,
    isWhole,
    takesDown: record?.up === true && (unit?.whole === true || up - 1 < needed),
    get wholeSince() {
      return readySince(
        members.map(({ facts }) => facts),
        needed,
      );
    },
  };
}

function isTreeWhole({ tree }: Unit): boolean {
  return tree === undefined || distanceOf(tree.needs, (leaf) => tree.up.get(leaf) ?? 0) <= 0;
}

/** When as many members were Ready as are needed. */
function readySince(members: readonly CountedPod[], needed: number): number | undefined {
  const times = members
    .filter(({ ready }) => ready)
    .flatMap(({ readyChangedAt }) => parseTime(readyChangedAt) ?? [])
    .sort((a, b) => a - b);
  return times[needed - 1];
}

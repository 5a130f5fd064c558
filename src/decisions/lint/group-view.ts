import { LWS } from '../../api/lws/types.ts';
import { type GroupLookup, JOBSET, type Resolution, resolvePod } from '../disruption/index.ts';
import type { LintPod } from './pod-set.ts';

/** Pods that stand or fall together, whoever says so: a link in their spec, or the labels of a known controller. */
export interface GroupView {
  readonly namespace: string;
  readonly resolution: Resolution;
  readonly marked: 'Link' | 'LeaderWorkerSet' | 'JobSet';
  readonly members: LintPod[];
}

export function viewGroups(pods: readonly LintPod[], lookupOf: (namespace: string) => GroupLookup): GroupView[] {
  const groups = new Map<string, GroupView>();
  for (const pod of pods) {
    const { facts } = pod;
    const marked =
      facts.link !== undefined
        ? 'Link'
        : facts.labels[LWS.name] !== undefined
          ? 'LeaderWorkerSet'
          : facts.labels[JOBSET.name] !== undefined
            ? 'JobSet'
            : undefined;
    if (marked === undefined) continue;
    const groupBy = {
      Link: undefined,
      LeaderWorkerSet: { kind: 'leaderWorkerSet' },
      JobSet: { kind: 'jobSet', level: 'job' },
    } as const;
    const resolution = resolvePod(groupBy[marked], facts, lookupOf(facts.namespace));
    if (resolution === undefined || resolution.kind === 'basic') continue;
    const key = `${facts.namespace}|${marked}|${resolution.unit}`;
    const group = groups.get(key) ?? { namespace: facts.namespace, resolution, marked, members: [] };
    group.members.push(pod);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** More than one pod, or meant to be. */
export function isMultiPod({ members, resolution }: GroupView): boolean {
  return members.length > 1 || (resolution.kind === 'gang' && resolution.minCount > 1);
}

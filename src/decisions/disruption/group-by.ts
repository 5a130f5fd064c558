import type { GroupLookup } from './group-facts.ts';
import { LWS } from '../../api/lws/types.ts';
import { JOB_NAME, JOBSET, SCHEDULER_MARKERS } from './group-markers.ts';
import type { CountedPod } from './pod-facts.ts';
import { type Resolution, resolveLink } from './resolve.ts';

/** A grouping that a budget names itself (R0), which alone makes label markers count (R6 to R8). */
export type GroupBy =
  | { readonly kind: 'podGroup' }
  | { readonly kind: 'label'; readonly key: string; readonly minCount?: number; readonly replicas?: number }
  | { readonly kind: 'leaderWorkerSet'; readonly minCount?: number; readonly replicas?: number }
  | {
      readonly kind: 'jobSet';
      readonly level: 'job' | 'replicatedJob' | 'jobset';
      readonly minCount?: number;
      readonly replicas?: number;
    };

export const GROUP_BY = 'policy.quorate.dev/group-by';
export const GROUP_MIN_COUNT = 'policy.quorate.dev/group-min-count';
export const GROUP_REPLICAS = 'policy.quorate.dev/group-replicas';

/**
 * Reads the annotations of a budget: `podGroup`, `label:<key>`, `leaderworkerset`, `jobset`, `jobset:replicatedJob` or
 * `jobset:jobset`. Undefined when absent; `unknown` when the text is none of these, which must not be guessed at.
 */
export function readGroupBy(
  annotations: Readonly<Record<string, string>> | undefined,
): GroupBy | 'unknown' | undefined {
  const text = annotations?.[GROUP_BY];
  if (text === undefined) return undefined;
  const minCount = readCount(annotations?.[GROUP_MIN_COUNT]);
  const replicas = readCount(annotations?.[GROUP_REPLICAS]);
  const numbers = { ...(minCount !== undefined && { minCount }), ...(replicas !== undefined && { replicas }) };
  if (text === 'podGroup') return { kind: 'podGroup' };
  if (text.startsWith('label:') && text.length > 6) return { kind: 'label', key: text.slice(6), ...numbers };
  if (text === 'leaderworkerset') return { kind: 'leaderWorkerSet', ...numbers };
  const level = /^jobset(?::(job|replicatedJob|jobset))?$/.exec(text);
  if (level !== null) return { kind: 'jobSet', level: (level[1] ?? 'job') as 'job', ...numbers };
  return 'unknown';
}

/** How many groups a budget itself says there should be, of whatever sets they are. */
export function toldReplicas(groupBy: GroupBy | 'unknown' | undefined): number | undefined {
  return typeof groupBy === 'object' && groupBy.kind !== 'podGroup' ? groupBy.replicas : undefined;
}

function readCount(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d*$/.test(text) ? Number(text) : undefined;
}

/** Two budgets with the same id share their units. */
export function groupById(groupBy: GroupBy | undefined): string {
  return groupBy === undefined || groupBy.kind === 'podGroup' ? 'auto' : JSON.stringify(groupBy);
}

/** The unit of a pod under a grouping; undefined when the pod belongs to none. */
export function resolvePod(groupBy: GroupBy | undefined, pod: CountedPod, lookup: GroupLookup): Resolution | undefined {
  switch (groupBy?.kind) {
    case undefined:
    case 'podGroup':
      return pod.link === undefined ? undefined : resolveLink(pod.link, pod, lookup);
    case 'leaderWorkerSet':
      return resolveLeaderWorkerSet(groupBy, pod, lookup);
    case 'jobSet':
      return resolveJobSet(groupBy, pod, lookup);
    case 'label':
      return resolveLabel(groupBy, pod);
  }
}

/** Under which names what labels say of a pod's group may be looked up in what other objects say about groups. */
export function sourcesOf({ labels }: CountedPod): string[] {
  const { [JOBSET.name]: set, [JOBSET.replicatedJob]: job, [JOB_NAME]: own, [LWS.name]: workers } = labels;
  return [
    ...(workers === undefined ? [] : [`LeaderWorkerSet/${workers}`]),
    ...(set === undefined ? [] : [`JobSet/${set}`, `JobSet/${set}/${job}`, `Job/${own ?? ''}`]),
  ];
}

type Numbers = { readonly minCount?: number; readonly replicas?: number };

/** A group whose size nobody states is broken: the number of pods seen now may already be too small. */
function unitOf(
  family: string,
  unit: string,
  { minCount, replicas }: { minCount: number | undefined; replicas: number | undefined },
): Resolution {
  return minCount === undefined || !(minCount >= 1)
    ? { kind: 'broken', unit, reason: 'IncompleteReference' }
    : { kind: 'gang', family, unit, minCount, replicas };
}

/** R6. */
function resolveLeaderWorkerSet(given: Numbers, pod: CountedPod, lookup: GroupLookup): Resolution | undefined {
  const { [LWS.name]: name, [LWS.groupIndex]: index } = pod.labels;
  if (name === undefined || index === undefined) return undefined;
  const family = `LeaderWorkerSet/${name}`;
  const source = lookup.source(family);
  return unitOf(family, `${family}/${index}`, {
    minCount: given.minCount ?? toCount(pod.markers?.[LWS.size]) ?? source?.size,
    replicas: given.replicas ?? source?.replicas,
  });
}

/** R7. */
function resolveJobSet(
  given: Numbers & { readonly level: 'job' | 'replicatedJob' | 'jobset' },
  { labels }: CountedPod,
  lookup: GroupLookup,
): Resolution | undefined {
  const { [JOBSET.name]: set, [JOBSET.replicatedJob]: job, [JOBSET.jobIndex]: index } = labels;
  if (set === undefined || job === undefined || index === undefined) return undefined;
  if (given.level === 'jobset') {
    const family = `JobSet/${set}`;
    return unitOf(family, family, { minCount: given.minCount ?? lookup.source(family)?.size, replicas: 1 });
  }
  if (given.level === 'replicatedJob') {
    const unit = `JobSet/${set}/${job}`;
    return unitOf(`JobSet/${set}`, unit, {
      minCount: given.minCount ?? lookup.source(unit)?.size,
      replicas: given.replicas,
    });
  }
  const family = `JobSet/${set}/${job}`;
  return unitOf(family, `${family}/${index}`, {
    minCount: given.minCount ?? lookup.source(`Job/${labels[JOB_NAME] ?? ''}`)?.size,
    replicas: given.replicas ?? toCount(labels[JOBSET.replicas]),
  });
}

/**
 * R8. The value alone would merge unrelated sets, so the set's name or the controller stands in the key. Markers of
 * gang schedulers know their size beside the key.
 */
function resolveLabel(given: Numbers & { readonly key: string }, pod: CountedPod): Resolution | undefined {
  const value = pod.labels[given.key] ?? pod.markers?.[given.key];
  if (value === undefined || value === '') return undefined;
  const marker = SCHEDULER_MARKERS.find(({ key }) => key === given.key);
  const size = marker?.size === undefined ? undefined : toCount(pod.markers?.[marker.size]);
  const family = `Label/${given.key}/${setOf(pod)}`;
  return unitOf(family, `${family}/${value}`, { minCount: given.minCount ?? size, replicas: given.replicas });
}

/**
 * Leader and workers of one set have different controllers; the set's own label is what they share. A rollout gives a
 * Deployment's pods a new ReplicaSet, so its name counts without the template hash.
 */
function setOf({ labels, owner }: CountedPod): string {
  const set = labels[LWS.name] ?? labels[JOBSET.name];
  if (set !== undefined) return set;
  if (owner === undefined) return '';
  const hash = labels['pod-template-hash'];
  const { kind, name } = owner;
  if (kind === 'ReplicaSet' && hash && name.endsWith(`-${hash}`))
    return `Deployment.${name.slice(0, -hash.length - 1)}`;
  return `${kind}.${name}`;
}

function toCount(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** What a Deployment and its ReplicaSets tell each other in annotations. */
import type { Deployment, ReplicaSet } from '../../../api/generated/apps-v1.ts';
import type { KubeObject } from '../../../api/resource.ts';

export const REVISION = 'deployment.kubernetes.io/revision';
export const REVISION_HISTORY = 'deployment.kubernetes.io/revision-history';
export const DESIRED_REPLICAS = 'deployment.kubernetes.io/desired-replicas';
export const MAX_REPLICAS = 'deployment.kubernetes.io/max-replicas';
export const ROLLBACK_TO = 'deprecated.deployment.rollback.to';

/** These belong to one object and are never copied to another. */
const OWN = new Set([
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  REVISION_HISTORY,
  DESIRED_REPLICAS,
  MAX_REPLICAS,
  ROLLBACK_TO,
]);

const INTEGER = /^[+-]?[0-9]+$/;
const MAX_HISTORY_CHARACTERS = 2000;

/** Revisions are 64-bit; 0 when absent, undefined when unreadable. */
export function revisionOf({ metadata }: KubeObject): bigint | undefined {
  const text = metadata.annotations?.[REVISION];
  if (text === undefined) return 0n;
  return INTEGER.test(text) ? BigInt(text) : undefined;
}

export function highestRevision(replicaSets: readonly ReplicaSet[]): bigint {
  let highest = 0n;
  for (const replicaSet of replicaSets) {
    const revision = revisionOf(replicaSet) ?? 0n;
    if (revision > highest) highest = revision;
  }
  return highest;
}

/** The second highest revision: the one before the current. */
export function previousRevision(replicaSets: readonly ReplicaSet[]): bigint {
  let highest = 0n;
  let second = 0n;
  for (const replicaSet of replicaSets) {
    const revision = revisionOf(replicaSet);
    if (revision === undefined) continue;
    if (revision >= highest) {
      second = highest;
      highest = revision;
    } else if (revision > second) second = revision;
  }
  return second;
}

/** The revision to roll back to; 0 is the previous one, undefined no wish or one that cannot be read. */
export function rollbackTarget({ metadata }: Deployment): bigint | undefined {
  const text = metadata.annotations?.[ROLLBACK_TO];
  return text !== undefined && INTEGER.test(text) ? BigInt(text) : undefined;
}

/** A number another pass left behind; undefined when absent or not a 32-bit count. */
export function countAnnotation({ metadata }: ReplicaSet, name: string): number | undefined {
  const text = metadata.annotations?.[name];
  if (text === undefined || !/^[0-9]+$/.test(text)) return undefined;
  const count = Number(text);
  return count <= 2_147_483_647 ? count : undefined;
}

type Annotations = Record<string, string>;

/**
 * The annotations of the new ReplicaSet: those of its Deployment, and a revision that only ever rises. The revision it
 * had before joins its history, whose oldest entries make room.
 */
export function newReplicaSetAnnotations(
  deployment: Deployment,
  replicaSet: ReplicaSet,
  revision: bigint,
): Annotations {
  const annotations: Annotations = { ...replicaSet.metadata.annotations };
  for (const [name, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!OWN.has(name)) annotations[name] = value;
  }
  const current = annotations[REVISION];
  if (current !== undefined && !INTEGER.test(current)) return annotations;
  if (current !== undefined && BigInt(current) >= revision) return annotations;
  annotations[REVISION] = String(revision);
  if (current !== undefined) annotations[REVISION_HISTORY] = appendHistory(annotations[REVISION_HISTORY], current);
  return annotations;
}

function appendHistory(history: string | undefined, revision: string): string {
  const entries = history ? [...history.split(','), revision] : [revision];
  while (entries.join(',').length > MAX_HISTORY_CHARACTERS && entries.length > 1) entries.shift();
  return entries.join(',');
}

/** A Deployment's annotations after rolling back to a ReplicaSet: its own, and what the ReplicaSet had copied. */
export function rolledBackAnnotations(deployment: Deployment, replicaSet: ReplicaSet): Annotations {
  return {
    ...Object.fromEntries(Object.entries(deployment.metadata.annotations ?? {}).filter(([name]) => OWN.has(name))),
    ...Object.fromEntries(Object.entries(replicaSet.metadata.annotations ?? {}).filter(([name]) => !OWN.has(name))),
  };
}

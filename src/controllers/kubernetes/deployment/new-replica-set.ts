import { controllerReference, isControlledBy } from '../../../api/core/owner.ts';
import type { ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { deploymentType, replicaSetType } from '../../../api/resource-types.ts';
import { isAlreadyExists, isNamespaceTerminating } from '../../../machinery/runtime/index.ts';
import { deepClone, deepEqual } from '../../../machinery/values/index.ts';
import { highestRevision, newReplicaSetAnnotations, REVISION } from './annotations.ts';
import { type ConditionNews, findCondition, setCondition } from './conditions.ts';
import { progressDeadlineOf } from './limits.ts';
import type { Pass } from './pass.ts';
import { pickerDiffers, withPicker } from './picker.ts';
import { planNewSize } from './plan-rolling.ts';
import { type ReplicaSets, splitReplicaSets } from './replica-sets.ts';
import { replicasAnnotations } from './resize.ts';
import { HASH_LABEL, isSameTemplate, replicaSetName, templateHash } from './template.ts';

/** Sorts the ReplicaSets and keeps the new one's revision, annotations and settings in line with the Deployment. */
export async function syncReplicaSets(pass: Pass, owned: readonly ReplicaSet[]): Promise<ReplicaSets> {
  const { current, old } = splitReplicaSets(pass.deployment, owned);
  if (current === undefined) return { current, old };
  const { deployment, deps } = pass;
  const annotations = newReplicaSetAnnotations(deployment, current, highestRevision(old) + 1n);
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
  let synced = current;
  if (
    !deepEqual(annotations, current.metadata.annotations ?? {}) ||
    (current.spec?.minReadySeconds ?? 0) !== minReadySeconds ||
    pickerDiffers(deps.gates, deployment, current)
  ) {
    synced = await pass.writeReplicaSet({
      ...current,
      metadata: { ...current.metadata, annotations },
      spec: withPicker(deps.gates, deployment, { ...current.spec, minReadySeconds }),
    });
  }
  await recordRevision(pass, synced, {
    reason: 'FoundNewReplicaSet',
    message: `Found new replica set "${current.metadata.name}"`,
    onlyIfNew: true,
  });
  return { current: synced, old };
}

/** As `syncReplicaSets`, and creates the new ReplicaSet if it does not exist. */
export async function ensureNewReplicaSet(
  pass: Pass,
  owned: readonly ReplicaSet[],
): Promise<ReplicaSets & { current: ReplicaSet }> {
  const { current, old } = await syncReplicaSets(pass, owned);
  return { current: current ?? (await createReplicaSet(pass, old)), old };
}

async function createReplicaSet(pass: Pass, old: readonly ReplicaSet[]): Promise<ReplicaSet> {
  const wanted = describe(pass, old);
  const { context, replicaSets, writes } = pass.deps;
  let created: ReplicaSet;
  try {
    created = await context.client.create(replicaSetType, wanted);
    writes.record(pass.key, replicaSets, created);
  } catch (error) {
    if (isAlreadyExists(error)) return resolveNameClash(pass, wanted, error);
    if (!isNamespaceTerminating(error)) await reportCreateError(pass, wanted, error);
    throw error;
  }
  const size = wanted.spec?.replicas ?? 0;
  const name = created.metadata.name ?? '';
  if (size > 0) pass.event('Normal', 'ScalingReplicaSet', `Scaled up replica set ${name} from 0 to ${size}`);
  await recordRevision(pass, created, {
    reason: 'NewReplicaSetCreated',
    message: `Created new replica set "${name}"`,
    onlyIfNew: false,
  });
  return created;
}

function describe(pass: Pass, old: readonly ReplicaSet[]): ReplicaSet {
  const { deployment, deps } = pass;
  const template = deepClone(deployment.spec?.template ?? {});
  const hash = templateHash(template, deployment.status?.collisionCount);
  const labels = { ...template.metadata?.labels, [HASH_LABEL]: hash };
  const selector = deployment.spec?.selector ?? {};
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0;
  const bare: ReplicaSet = {
    metadata: {
      name: replicaSetName(deployment.metadata.name ?? '', hash),
      namespace: deployment.metadata.namespace,
      ownerReferences: [controllerReference(deploymentType, deployment)],
      labels,
    },
    spec: withPicker(deps.gates, deployment, {
      replicas: planNewSize(deployment, old, 0),
      ...(minReadySeconds === 0 ? {} : { minReadySeconds }),
      selector: { ...selector, matchLabels: { ...selector.matchLabels, [HASH_LABEL]: hash } },
      template: { ...template, metadata: { ...template.metadata, labels } },
    }),
  };
  const annotations = {
    ...newReplicaSetAnnotations(deployment, bare, highestRevision(old) + 1n),
    ...replicasAnnotations(pass),
  };
  return { ...bare, metadata: { ...bare.metadata, annotations } };
}

/** Ours with the same template: it is the one, the cache was late. Otherwise two templates share a hash: take the next. */
async function resolveNameClash(pass: Pass, wanted: ReplicaSet, error: unknown): Promise<ReplicaSet> {
  const { deployment, deps } = pass;
  const { name = '', namespace } = wanted.metadata;
  const taken = await deps.context.client.get(replicaSetType, { name, namespace });
  if (isControlledBy(taken, deployment) && isSameTemplate(taken.spec?.template, deployment.spec?.template))
    return taken;
  const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
  await pass.writeStatus({ ...deployment.status, collisionCount });
  throw error;
}

async function reportCreateError(pass: Pass, wanted: ReplicaSet, error: unknown): Promise<void> {
  const text = error instanceof Error ? error.message : String(error);
  const message = `Failed to create new replica set "${wanted.metadata.name}": ${text}`;
  pass.event('Warning', 'ReplicaSetCreateError', message);
  const { deployment } = pass;
  if (progressDeadlineOf(deployment) === undefined) return;
  const conditions = setCondition(
    deployment.status?.conditions ?? [],
    { type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError', message },
    pass.now,
  );
  // The failure itself is thrown next and matters more than one to report it.
  await pass.writeStatus({ ...deployment.status, conditions }).catch(() => {});
}

interface RevisionNews extends Pick<ConditionNews, 'reason' | 'message'> {
  /** Only where no Progressing condition exists yet. */
  readonly onlyIfNew: boolean;
}

/** The Deployment shows its new ReplicaSet's revision, and that there is one. */
async function recordRevision(pass: Pass, current: ReplicaSet, news: RevisionNews): Promise<void> {
  const { deployment } = pass;
  const annotations = { ...deployment.metadata.annotations };
  const revision = current.metadata.annotations?.[REVISION];
  if (revision !== undefined) annotations[REVISION] = revision;
  let conditions = deployment.status?.conditions ?? [];
  const known = findCondition(conditions, 'Progressing');
  if (progressDeadlineOf(deployment) !== undefined && (known === undefined || !news.onlyIfNew)) {
    const { message, reason } = news;
    conditions = setCondition(conditions, { type: 'Progressing', status: 'True', reason, message }, pass.now);
  }
  const sameAnnotations = deepEqual(annotations, deployment.metadata.annotations ?? {});
  if (sameAnnotations && deepEqual(conditions, deployment.status?.conditions ?? [])) return;
  await pass.writeStatus({ ...deployment.status, conditions }, annotations);
}

import { controllerOf } from '../../../api/core/owner.ts';
import type { ControllerRevision, StatefulSet } from '../../../api/generated/apps-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { podType, statefulSetType } from '../../../api/resource-types.ts';
import { formatKey, keyOf, type ObjectKey } from '../../../api/resource.ts';
import {
  type Client,
  type Clock,
  type EventRecorder,
  type Informer,
  isNotFound,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';
import { podAvailableAt } from '../../../api/core/pod-state.ts';
import {
  claimRevisions,
  deleteRevisions,
  revisionFor,
  revisionsBeyond,
  templateOf,
} from '../../shared/controller-history/index.ts';
import { cachedSelector, claim, type ReadYourWrites } from '../../shared/pod-control/index.ts';
import { type ClaimDeps, ensureClaims, hasStaleClaim, retainClaims } from './claims.ts';
import { isInRange, isMember, newPod, ordinalOf, POD_INDEX_LABEL, POD_NAME_LABEL, revisionOf } from './identity.ts';
import { isCreatedFromCurrent, planSteps, type StatefulStep } from './plan.ts';
import { computeStatus, isSameStatus } from './status.ts';

export interface StatefulDeps extends ClaimDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly sets: Informer<StatefulSet>;
  readonly pods: Informer<Pod>;
  readonly revisions: Informer<ControllerRevision>;
  readonly writes: ReadYourWrites;
}

const STALE_CACHE_WAIT_MS = 100;
const LEFT_BEHIND_WAIT_MS = 1000;

/** Brings one StatefulSet a step nearer to its spec. */
export async function reconcileStatefulSet(deps: StatefulDeps, objectKey: ObjectKey): Promise<ReconcileResult> {
  const { client, clock, pods, revisions, sets, writes } = deps;
  const key = formatKey(objectKey);
  const set = sets.get(objectKey);
  if (set === undefined) {
    writes.forget(key);
    return settled;
  }
  if (!writes.seen(key)) return { requeueAfterMs: STALE_CACHE_WAIT_MS };
  const selector = cachedSelector(set.spec?.selector);
  const history = { client, revisions, ownerType: statefulSetType, writes };
  const known = await claimRevisions(history, set, selector);
  const members = await claim({
    client,
    owner: set,
    ownerType: statefulSetType,
    cache: pods,
    writes,
    selector,
    isMember: (pod) => isMember(set, pod),
  });

  const update = await revisionFor(history, set, known);
  const current = known.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update.revision;
  const now = clock.now();
  const updateRevision = update.revision.metadata.name ?? '';
  const waits = isLeftBehind(deps, set);
  const steps = planSteps({ set, pods: members, updateRevision, now }).filter((step) => !waits || step.do !== 'create');
  let failure: unknown;
  try {
    for (const pod of members) if (!set.metadata.deletionTimestamp) await tendClaims(deps, set, pod);
    for (const step of steps) await take(deps, set, step, { current, update: update.revision });
  } catch (error) {
    failure = error;
  }

  const currentRevision = current.metadata.name ?? '';
  const { collisionCount } = update;
  const status = computeStatus({ set, pods: members, currentRevision, updateRevision, collisionCount, steps, now });
  if (!isSameStatus(set.status, status)) {
    writes.record(key, sets, await client.updateStatus(statefulSetType, { ...set, status }));
  }
  if (failure !== undefined) throw failure;
  const live = new Set([status.currentRevision ?? '', updateRevision, ...members.map(revisionOf)]);
  await deleteRevisions(client, revisionsBeyond(known, live, set.spec?.revisionHistoryLimit ?? 10));
  return waits ? { requeueAfterMs: LEFT_BEHIND_WAIT_MS } : recheck(set, members, now);
}

/**
 * The workers of a group whose leader is gone or going. The set goes too, and pods it still made would name the group
 * of the old leader, which goes as well.
 */
function isLeftBehind({ pods }: StatefulDeps, { metadata }: StatefulSet): boolean {
  const owner = controllerOf({ metadata });
  if (owner?.kind !== 'Pod' || owner.apiVersion !== 'v1') return false;
  const leader = pods.get({ namespace: metadata.namespace, name: owner.name });
  return leader === undefined || leader.metadata.uid !== owner.uid || Boolean(leader.metadata.deletionTimestamp);
}

/** A pending pod may be waiting for a claim that somebody deleted. */
async function tendClaims(deps: StatefulDeps, set: StatefulSet, pod: Pod): Promise<void> {
  if ((set.spec?.volumeClaimTemplates ?? []).length === 0) return;
  const ordinal = ordinalOf(pod);
  if (isInRange(set, ordinal) && pod.status?.phase === 'Pending') {
    await ensureClaims(deps, set, pod.metadata.name ?? '', ordinal);
  }
  await retainClaims(deps, set, pod);
}

async function take(
  deps: StatefulDeps,
  set: StatefulSet,
  step: StatefulStep,
  { current, update }: { current: ControllerRevision; update: ControllerRevision },
): Promise<void> {
  const { client, pods, writes } = deps;
  const record = (verb: string, name: string, error?: unknown) => recordOutcome(deps, set, verb, name, error);
  if (step.do === 'create') {
    const revision = isCreatedFromCurrent(set, step.ordinal) ? current : update;
    const template = templateOf(revision);
    const pod = newPod(set, { ordinal: step.ordinal, revision: revision.metadata.name ?? '', template });
    const name = pod.metadata.name ?? '';
    if (hasStaleClaim(deps, set, name, step.ordinal)) return;
    try {
      await ensureClaims(deps, set, name, step.ordinal);
      const created = await client.create(podType, pod);
      writes.record(keyOf(set), pods, created);
      record('Create', name);
      await retainClaims(deps, set, created);
    } catch (error) {
      record('Create', name, error);
      throw error;
    }
    return;
  }
  const { name = '', namespace, uid } = step.pod.metadata;
  if (step.do === 'label') {
    const labels = { [POD_NAME_LABEL]: name, [POD_INDEX_LABEL]: String(ordinalOf(step.pod)) };
    const body = { metadata: { uid, labels } };
    writes.record(keyOf(set), pods, await client.patch(podType, { namespace, name }, { type: 'merge', body }));
    record('Update', name);
    return;
  }
  try {
    await client.delete(podType, { namespace, name }, { preconditions: { uid } });
    record('Delete', name);
  } catch (error) {
    if (isNotFound(error)) return;
    record('Delete', name, error);
    throw error;
  }
}

function recordOutcome(
  { events }: StatefulDeps,
  set: StatefulSet,
  verb: string,
  podName: string,
  error: unknown,
): void {
  const about = `${verb.toLowerCase()} Pod ${podName} in StatefulSet ${set.metadata.name}`;
  if (error === undefined) events.record(set, 'Normal', `Successful${verb}`, `${about} successful`);
  else {
    const text = error instanceof Error ? error.message : 'unknown';
    events.record(set, 'Warning', `Failed${verb}`, `${about} failed error: ${text}`);
  }
}

/** Looks again when the next Ready pod becomes available by waiting alone. */
function recheck(set: StatefulSet, members: readonly Pod[], now: number): ReconcileResult {
  const minReady = set.spec?.minReadySeconds ?? 0;
  if (minReady === 0) return settled;
  const moments = members.map((pod) => podAvailableAt(pod, minReady) ?? 0).filter((at) => at > now);
  return moments.length === 0 ? settled : { requeueAfterMs: Math.min(...moments) - now };
}

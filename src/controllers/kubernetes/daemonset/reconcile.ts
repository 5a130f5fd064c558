import type { ControllerRevision } from '../../../api/generated/apps-v1.ts';
import { daemonSetType } from '../../../api/resource-types.ts';
import { formatKey, keyOf, type ObjectKey } from '../../../api/resource.ts';
import {
  type Client,
  type Clock,
  type EventRecorder,
  type Informer,
  isNamespaceTerminating,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';
import {
  claimRevisions,
  deleteRevisions,
  revisionFor,
  revisionsBeyond,
} from '../../shared/controller-history/index.ts';
import {
  cachedSelector,
  claim,
  type Expectations,
  type ReadYourWrites,
  type PodControl,
  slowStart,
} from '../../shared/pod-control/index.ts';
import type { FailedPodBackOff } from './back-off.ts';
import { fitOf } from './fit.ts';
import type { DaemonSet, Node, Pod } from './kinds.ts';
import { type DaemonPlan, groupByNode, planPresence, planUpdate } from './plan.ts';
import { computeStatus, isSameStatus } from './status.ts';
import { daemonPod, REVISION_LABEL } from './template.ts';

export interface DaemonDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly control: PodControl;
  readonly events: EventRecorder;
  readonly sets: Informer<DaemonSet>;
  readonly nodes: Informer<Node>;
  readonly pods: Informer<Pod>;
  readonly revisions: Informer<ControllerRevision>;
  readonly expectations: Expectations;
  readonly writes: ReadYourWrites;
  readonly backOff: FailedPodBackOff;
  /** Most pods created or deleted in one pass. */
  readonly burst: number;
}

const STALE_CACHE_WAIT_MS = 100;

/** Brings one DaemonSet's pods in line with the nodes and its template. */
export async function reconcileDaemonSet(deps: DaemonDeps, objectKey: ObjectKey): Promise<ReconcileResult> {
  const { backOff, client, clock, expectations, nodes, pods, revisions, sets, writes } = deps;
  const key = formatKey(objectKey);
  const set = sets.get(objectKey);
  if (set === undefined) {
    expectations.forget(key);
    writes.forget(key);
    backOff.forget(key);
    return settled;
  }
  if (set.metadata.deletionTimestamp) return settled;
  if (!writes.seen(key)) return { requeueAfterMs: STALE_CACHE_WAIT_MS };

  const upToDate = expectations.satisfied(key);
  const selector = cachedSelector(set.spec?.selector);
  const history = { client, revisions, ownerType: daemonSetType, writes, hashLabel: REVISION_LABEL };
  const known = await claimRevisions(history, set, selector);
  const { collisionCount, revision } = await revisionFor(history, set, known);
  const mine = await claim({ client, owner: set, ownerType: daemonSetType, cache: pods, writes, selector });

  const now = clock.now();
  const hash = revision.metadata.labels?.[REVISION_LABEL] ?? '';
  const question = { set, nodes: nodes.list(), fit: fitOf(set), podsByNode: groupByNode(mine), hash, now };
  let failure: unknown;
  let retryAfterMs: number | undefined;
  if (upToDate) {
    const attempt = backOff.attempt(key, now);
    try {
      const presence = planPresence(question, attempt.mayRetry);
      await carryOut(deps, set, presence, hash);
      const quiet = presence.create.length === 0 && presence.remove.length === 0;
      if (quiet && set.spec?.updateStrategy?.type !== 'OnDelete') {
        await carryOut(deps, set, planUpdate(question), hash);
      }
    } catch (error) {
      failure = error;
    }
    retryAfterMs = attempt.nextRetryMs();
  }

  const status = computeStatus(question, { collisionCount, observed: upToDate });
  if (!isSameStatus(set.status, status)) {
    writes.record(key, sets, await client.updateStatus(daemonSetType, { ...set, status }));
  }
  if (failure !== undefined) throw failure;
  const liveHashes = new Set([hash, ...mine.map(({ metadata }) => metadata.labels?.[REVISION_LABEL] ?? '')]);
  const live = new Set(
    known
      .filter(({ metadata }) => liveHashes.has(metadata.labels?.[REVISION_LABEL] ?? ''))
      .map(({ metadata }) => metadata.name ?? ''),
  );
  await deleteRevisions(client, revisionsBeyond(known, live, set.spec?.revisionHistoryLimit ?? 10));
  const waitsForReady = (set.spec?.minReadySeconds ?? 0) > 0 && status.numberReady !== status.numberAvailable;
  const rechecks = [retryAfterMs, waitsForReady ? (set.spec?.minReadySeconds ?? 0) * 1000 : undefined];
  const soonest = Math.min(...rechecks.map((wait) => wait ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(soonest) ? { requeueAfterMs: soonest } : settled;
}

async function carryOut(deps: DaemonDeps, set: DaemonSet, plan: DaemonPlan, hash: string): Promise<void> {
  const { burst, control, events, expectations, pods, writes } = deps;
  const create = plan.create.slice(0, burst);
  const remove = plan.remove.slice(0, burst);
  if (create.length === 0 && remove.length === 0) return;
  const key = keyOf(set);
  expectations.expect(
    key,
    create.length,
    remove.map(({ pod }) => keyOf(pod)),
  );
  let unseen = 0;
  const { errors, successes } = await slowStart(create.length, async (index) => {
    try {
      const pod = daemonPod(set, { hash, node: create[index] ?? '' });
      writes.record(key, pods, await control.create(pod, set));
    } catch (error) {
      // Nothing can be created in a namespace that goes away, and nothing needs to be.
      if (!isNamespaceTerminating(error)) throw error;
      unseen += 1;
    }
  });
  const missing = create.length - successes + unseen;
  if (missing > 0) expectations.creationObserved(key, missing);

  const failures: unknown[] = [...errors];
  await Promise.all(
    remove.map(async ({ pod, reason }) => {
      const place = `${keyOf(pod)} on node ${pod.spec?.nodeName ?? ''}`;
      if (reason === 'Failed') {
        events.record(set, 'Warning', 'FailedDaemonPod', `Found failed daemon pod ${place}, will try to kill it`);
      }
      if (reason === 'Succeeded') {
        events.record(
          set,
          'Normal',
          'SucceededDaemonPod',
          `Found succeeded daemon pod ${place}, will try to delete it`,
        );
      }
      try {
        await control.delete(pod, set);
      } catch (error) {
        expectations.deletionObserved(key, keyOf(pod));
        failures.push(error);
      }
    }),
  );
  if (failures.length > 0) throw failures[0];
}

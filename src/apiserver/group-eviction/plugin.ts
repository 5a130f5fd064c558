import {
  EVICTED,
  type GroupEviction,
  type GroupEvictionStatus,
  groupEvictionType,
} from '../../api/quorate/group-eviction.ts';
import type { DisruptionIndex, CountedPod } from '../../decisions/disruption/index.ts';
import {
  decideGroupEviction,
  formatGroup,
  formatGroupRefusal,
  type GroupVerdict,
  membersOf,
  MISSING_RIGHT,
} from '../../decisions/group-eviction/index.ts';
import { keepFoundRoom, refusedBudgets } from '../../decisions/unavailability/index.ts';
import { formatTime } from '../../machinery/values/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../context/admission-plugin.ts';
import {
  type AnswerTeller,
  chargeBudget,
  chargePolicies,
  holdRoom,
  refusalError,
  removePod,
  tellGroupEviction,
} from '../eviction/index.ts';
import { objectKey } from '../registry/resource.ts';
import { type ApiError, failure, forbidden } from '../exchange/status.ts';
import { type Guarding, writeStatus } from '../unavailability/index.ts';

/**
 * Carries out a GroupEviction as it is created: the check of every budget, their charges, the departure of all members
 * and the object that says so are one store transaction.
 */
export function groupEvictionPlugin(
  guarding: Guarding,
  index: DisruptionIndex,
  teller?: AnswerTeller,
): AdmissionPlugin {
  return {
    name: 'GroupEviction',
    handles: ({ operation, resource, subresource }) =>
      operation === 'CREATE' &&
      resource.group === groupEvictionType.group &&
      resource.plural === groupEvictionType.plural &&
      subresource === undefined,
    validate: (attributes) => checkRights(guarding, attributes),
    inTransaction: (attributes, transaction) =>
      tellGroupEviction(teller, attributes, () => evictGroup({ guarding, index }, attributes, transaction)),
  };
}

/** Whoever may not evict the pods one by one may not evict them together either. */
async function checkRights(
  { context }: Guarding,
  { name, namespace = '', resource, user }: AdmissionAttributes,
): Promise<void> {
  const pods = { group: '', version: 'v1', plural: 'pods', subresource: 'eviction', namespace };
  const { allowed } = await context.authorizer.authorize({ user, verb: 'create', resource: pods });
  if (!allowed) throw forbidden(resource, name, `User "${user.username}" ${MISSING_RIGHT} in namespace "${namespace}"`);
}

interface Parts {
  readonly guarding: Guarding;
  readonly index: DisruptionIndex;
}

function evictGroup({ guarding, index }: Parts, attributes: AdmissionAttributes, transaction: Transaction): void {
  const { dryRun, namespace = '', object } = attributes;
  const { spec = {} } = object as GroupEviction;
  const { compat, gates, context, view } = guarding;
  const nowMs = context.clock.now();
  const members = membersOf(index, namespace, spec);
  if (members.length === 0) throw noMembers(namespace, spec);
  const verdict = decideGroupEviction({
    members,
    disruption: index,
    unavailability: view.of(namespace),
    gates,
    scaleOf: (uid) => view.scaleOf(uid),
    nowMs,
    compat,
  });
  if (!verdict.allowed) {
    if (verdict.reason === 'UnavailableBudget' && !dryRun) {
      guarding.refused({
        pod: verdict.pod,
        operation: 'EVICT',
        username: attributes.user.username,
        budgets: refusedBudgets(namespace, verdict.refusals),
      });
    }
    throw refusal(verdict, { index, members, nowMs, spec, compat });
  }
  (object as GroupEviction).status = statusOf(members, nowMs);
  if (dryRun) return;
  for (const { grant, pod } of verdict.placed)
    holdRoom({ context, index }, transaction, { grant, uid: pod.uid, now: nowMs });
  for (const { budget, pods } of verdict.disruption) {
    chargeBudget({ context, index }, transaction, { namespace, budget, pods, now: nowMs });
  }
  keepFoundRoom(index.room, verdict.rooms, nowMs);
  for (const { entry, status } of verdict.unavailability) writeStatus(context, transaction, entry, status);
  for (const { charge, pod } of verdict.limits) {
    const by = attributes.user.username;
    chargePolicies(context, transaction, charge, { namespace, pod, by, way: 'GroupEviction', now: nowMs });
  }
  for (const { name } of members) remove(guarding, transaction, { namespace, name, grace: spec.gracePeriodSeconds });
}

function remove(
  { context }: Guarding,
  transaction: Transaction,
  { grace, name, namespace }: { namespace: string; name: string; grace: number | undefined },
): void {
  const resource = context.registry.byPlural('', 'pods');
  if (resource === undefined) throw new Error('Cannot evict a group: pods are not served');
  const key = objectKey(resource, namespace, name);
  const entry = transaction.get(key);
  if (entry === undefined) throw new Error(`Cannot evict pod ${namespace}/${name}: it is counted but not stored`);
  removePod(context, transaction, { resource, key, name, entry, options: { gracePeriodSeconds: grace } });
}

function statusOf(members: readonly CountedPod[], nowMs: number): GroupEvictionStatus {
  return {
    evictedPods: members.map(({ name }) => name),
    conditions: [
      {
        type: EVICTED,
        status: 'True',
        reason: 'AllMembersEvicted',
        message: `${members.length} pods were told to go`,
        lastTransitionTime: formatTime(nowMs),
      },
    ],
  };
}

function noMembers(namespace: string, spec: GroupEviction['spec']): ApiError {
  const message = `Cannot evict group ${formatGroup(spec ?? {})}: no pod of it runs in namespace ${namespace}`;
  return failure(404, 'NotFound', message, { details: {} });
}

function refusal(
  verdict: Extract<GroupVerdict, { allowed: false }>,
  {
    members,
    ...context
  }: {
    spec: NonNullable<GroupEviction['spec']>;
    members: readonly CountedPod[];
    index: DisruptionIndex;
    nowMs: number;
    compat: boolean;
  },
): ApiError {
  return refusalError(formatGroupRefusal(verdict, { ...context, members: members.length }));
}

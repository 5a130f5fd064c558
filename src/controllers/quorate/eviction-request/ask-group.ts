import { isPodReady } from '../../../api/core/pod-state.ts';
import type { Eviction } from '../../../api/generated/lifecycle-v1alpha1.ts';
import { evictionType } from '../../../api/lifecycle/index.ts';
import { EVICTED, type GroupEviction, groupEvictionType, NOTICED } from '../../../api/quorate/group-eviction.ts';
import { ORIGIN_LABEL } from '../../../api/quorate/notice.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { goesTogether, type TryAnswer } from '../../../decisions/eviction-requests/index.ts';
import { ApiError, type Client } from '../../../machinery/runtime/index.ts';
import { nameHash } from '../../../machinery/values/index.ts';
import type { GroupSeen } from './groups.ts';

/** Whether pods that are asked for go with all of their group. */
export function isTogether({ members, minCount, whole }: GroupSeen, isAsked: (uid: string) => boolean): boolean {
  const healthy = members.filter(isPodReady);
  const asked = healthy.filter(({ metadata }) => isAsked(metadata.uid ?? '')).length;
  return goesTogether({ asked, healthy: healthy.length, minCount, whole });
}

/**
 * Asks for a group as one. The name is that of these very pods, so that all who ask for one of them join the same
 * GroupEviction, and a group that was made again gets another.
 */
export async function askForGroup(
  client: Client,
  { id, members, spec }: GroupSeen,
  causes: readonly Eviction[],
): Promise<TryAnswer> {
  const namespace = id.split('/')[0] ?? '';
  const uids = members.map(({ metadata }) => metadata.uid ?? '').sort();
  const name = `eviction-requests-${nameHash([id, ...uids].join(' '))}`;
  const ownerReferences = causes.map(({ metadata }) => ({
    apiVersion: apiVersionOf(evictionType),
    kind: evictionType.kind,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
  }));
  try {
    const labels = { [ORIGIN_LABEL]: 'eviction-request' };
    return grantOf(
      await client.create(groupEvictionType, { metadata: { name, namespace, labels, ownerReferences }, spec }),
    );
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // None of its pods runs any more.
    if (error.code === 404) return {};
    if (error.code !== 409) return { refused: error.message };
  }
  const made = await client.get(groupEvictionType, { namespace, name });
  const told = made.status?.conditions?.find(({ type }) => type === EVICTED);
  if (told?.status === 'False') {
    // It was not carried out, or was taken back: it is asked for anew.
    await client.delete(groupEvictionType, { namespace, name }, { preconditions: { uid: made.metadata.uid } });
    return { refused: told.message };
  }
  const added = ownerReferences.filter(({ uid }) => !made.metadata.ownerReferences?.some((one) => one.uid === uid));
  if (told !== undefined || added.length === 0) return grantOf(made);
  // While one of them is asked for it is wanted.
  const { ownerReferences: before = [], resourceVersion } = made.metadata;
  const body = { metadata: { resourceVersion, ownerReferences: [...before, ...added] } };
  return grantOf(await client.patch(groupEvictionType, { namespace, name }, { type: 'merge', body }));
}

function grantOf({ status }: GroupEviction): TryAnswer {
  const isTold = status?.notice !== undefined || status?.joined !== undefined;
  const noticed = isTold ? status?.conditions?.find(({ type }) => type === NOTICED) : undefined;
  return noticed === undefined ? {} : { granted: `its group is told first: ${noticed.message ?? ''}` };
}

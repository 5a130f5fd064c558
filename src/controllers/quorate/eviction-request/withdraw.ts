import { EVICTED, type GroupEviction, groupEvictionType } from '../../../api/quorate/group-eviction.ts';
import { isOver, type TargetFacts, wantsGone } from '../../../decisions/eviction-requests/index.ts';
import { isNotFound } from '../../../machinery/runtime/index.ts';
import { BY_TARGET, targetKeyOf } from '../../shared/eviction-targets.ts';
import { BY_OWNER, type EvictionRequestDeps, placeOf } from './deps.ts';

/**
 * Takes back what was asked for a group once nobody asks for any of the pods it was asked for: while the group is told,
 * nothing has gone.
 */
export async function withdrawGroups(
  deps: EvictionRequestDeps,
  { evictions, requests }: Pick<TargetFacts, 'evictions' | 'requests'>,
): Promise<void> {
  const { client, groupEvictions } = deps;
  if (groupEvictions === undefined || requests.some(wantsGone)) return;
  for (const { metadata } of evictions) {
    for (const made of groupEvictions.byIndex(BY_OWNER, metadata.uid ?? '')) {
      if (isSettled(made) || isWanted(deps, made)) continue;
      try {
        await client.patch(groupEvictionType, placeOf(made), {
          type: 'merge',
          body: { spec: { intent: 'Withdrawn' } },
        });
      } catch (error) {
        if (!isNotFound(error)) throw error;
      }
    }
  }
}

const isSettled = ({ metadata, spec, status }: GroupEviction): boolean =>
  metadata.deletionTimestamp !== undefined ||
  spec?.intent === 'Withdrawn' ||
  status?.conditions?.some(({ type }) => type === EVICTED) === true;

function isWanted({ evictions, requests }: EvictionRequestDeps, { metadata }: GroupEviction): boolean {
  const { namespace, ownerReferences = [] } = metadata;
  return ownerReferences.some(({ name, uid }) => {
    const owner = evictions.get({ namespace, name });
    if (owner === undefined || owner.metadata.uid !== uid || isOver(owner)) return false;
    return requests.byIndex(BY_TARGET, targetKeyOf(owner) ?? '').some(wantsGone);
  });
}

import type { Pod } from '../../../api/generated/core-v1.ts';
import { DisruptionIndex, FED_KINDS, readPod } from '../../../decisions/disruption/index.ts';
import { type ControllerContext, followServed, type Informer } from '../../../machinery/runtime/index.ts';

/** What says which pods belong together. */
const GROUPING = FED_KINDS.filter(({ role }) => role === 'Group' || role === 'Budget');

/** A copy of pods and groups for the record alone, on hosts where no other is kept by watches. */
export function ownIndex(context: ControllerContext, pods: Informer<Pod>): DisruptionIndex {
  const index = new DisruptionIndex({ everySet: true, now: () => context.clock.now() });
  followServed({
    context,
    kinds: GROUPING,
    seen: (row, object) => row.set(index, object),
    gone: (row, { metadata: { name = '', namespace = '' } }) => row.delete(index, namespace, name),
  });
  const see = (pod: Pod): void => index.setPod(readPod(pod));
  pods.addHandler({
    added: see,
    updated: see,
    deleted: ({ metadata: { name = '', namespace = '' } }) => index.deletePod(namespace, name),
  });
  return index;
}

/** Takes picks back when their downscale is over, failed, or never came; also those a former leader left behind. */
import { controllerOf } from '../../../api/core/owner.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { rule } from '../../../api/policy-rule.ts';
import { keyOf } from '../../../api/resource.ts';
import { podType, replicaSetType } from '../../../api/resource-types.ts';
import { defineController, watch } from '../../../machinery/runtime/index.ts';
import type { OwnController } from '../own-controller.ts';
import { isPicked, reconcilePick } from './reconcile.ts';

const BY_OWNER = 'pickedByOwner';

const downscalePickController = defineController({
  name: 'downscale-pick',
  deps({ client, clock, informers, log, metrics }) {
    const pods = informers.of(podType);
    pods.addIndex(BY_OWNER, (pod) => (isPicked(pod) ? [controllerOf(pod)?.uid ?? ''] : []));
    const cleared = metrics.counter('quorate_downscale_picks_cleared_total');
    const since = new Map<string, number>();
    return { client, clock, log, pods, replicaSets: informers.of(replicaSetType), since, cleared };
  },
  watches({ pods, replicaSets, since }) {
    const picked = (pod: Pod): string | undefined => {
      if (isPicked(pod)) return keyOf(pod);
      since.delete(keyOf(pod));
    };
    const pickedOf = ({ metadata }: { metadata: { uid?: string } }): string[] =>
      pods.byIndex(BY_OWNER, metadata.uid ?? '').map(keyOf);
    return [
      watch(pods, { added: picked, updated: picked, deleted: (pod) => void since.delete(keyOf(pod)) }),
      watch(replicaSets, { updated: pickedOf, deleted: pickedOf }),
    ];
  },
  reconcile: reconcilePick,
});

/** The embedded host asks pickers in its own controllers of ReplicaSets. */
export const downscalePick: OwnController = {
  hosts: { operator: 'DownscalePodPicker' },
  feature: 'pickers',
  // What a picker chose is written on the pods.
  rights: [rule([''], ['pods'], ['patch'])],
  create: () => downscalePickController,
};

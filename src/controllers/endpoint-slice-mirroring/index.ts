import type { Endpoints } from '../../api/generated/core-v1.ts';
import { formatKey, keyOf, type ObjectKey } from '../../api/resource.ts';
import { endpointSliceType, endpointsType, serviceType } from '../../api/resource-types.ts';
import {
  type ReconcileResult,
  type RunningController,
  runController,
  type StartController,
  settled,
} from '../../machinery/runtime/index.ts';
import { OwnWrites } from '../pod-control/index.ts';
import { indexSlices, planSlices, slicesOf, watchSlices, writeSlices } from '../service-backends/index.ts';
import { isMirrored, MANAGER, mirrorGroups, mirrorRules } from './mirror.ts';

const CATCH_UP_MS = 100;

/** Mirrors Endpoints that people write for services without selector as EndpointSlices. */
export const startEndpointSliceMirroringController: StartController = (context): RunningController => {
  const { client, informers } = context;
  const services = informers.of(serviceType);
  const endpoints = informers.of(endpointsType);
  const slices = informers.of(endpointSliceType);
  const ownWrites = new OwnWrites();
  indexSlices(slices);

  async function reconcile(key: ObjectKey): Promise<ReconcileResult> {
    const source = endpoints.get(key);
    const service = services.get(key);
    const name = formatKey(key);
    if (!ownWrites.seen(name)) return { requeueAfterMs: CATCH_UP_MS };
    const existing = slicesOf(slices, name, MANAGER);
    const isWanted = service !== undefined && service.spec?.selector === undefined;
    const owner: Endpoints = source ?? { metadata: { ...key } };
    const groups = source !== undefined && isWanted && isMirrored(source) ? mirrorGroups(source) : [];
    const rules = mirrorRules(owner);
    const plan = planSlices(existing, groups, rules);
    await writeSlices({ client, slices, ownWrites }, { type: endpointsType, owner }, { ...plan, rules });
    return settled;
  }

  const { queue } = runController({
    name: 'endpoint-slice-mirroring',
    context,
    ready: async () => {
      await Promise.all([services.whenSynced(), endpoints.whenSynced(), slices.whenSynced()]);
    },
    reconcile,
  });
  for (const informer of [services, endpoints]) {
    informer.addHandler({
      added: (object) => queue.add(keyOf(object)),
      updated: (object) => queue.add(keyOf(object)),
      deleted: (object) => queue.add(keyOf(object)),
    });
  }
  watchSlices(slices, MANAGER, queue);
  return { name: 'endpoint-slice-mirroring', queues: [queue] };
};

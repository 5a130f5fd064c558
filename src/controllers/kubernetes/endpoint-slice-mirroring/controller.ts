import type { Endpoints } from '../../../api/generated/core-v1.ts';
import { formatKey } from '../../../api/resource.ts';
import { endpointSliceType, endpointsType, serviceType } from '../../../api/resource-types.ts';
import { defineController, settled, watch } from '../../../machinery/runtime/index.ts';
import { ReadYourWrites } from '../../shared/pod-control/index.ts';
import { indexSlices, planSlices, slicesOf, watchSlices, writeSlices } from '../../shared/service-backends/index.ts';
import { isMirrored, MANAGER, mirrorGroups, mirrorRules } from './mirror.ts';

const CATCH_UP_MS = 100;

/** Mirrors Endpoints that people write for services without selector as EndpointSlices. */
export const endpointSliceMirroringController = defineController({
  name: 'endpoint-slice-mirroring',
  deps({ client, informers }) {
    return {
      client,
      services: informers.of(serviceType),
      endpoints: informers.of(endpointsType),
      slices: indexSlices(informers.of(endpointSliceType)),
      readYourWrites: new ReadYourWrites(),
    };
  },
  watches: ({ endpoints, services, slices }) => [watch(services), watch(endpoints), watchSlices(slices, MANAGER)],
  async reconcile({ client, endpoints, readYourWrites, services, slices }, key) {
    const source = endpoints.get(key);
    const service = services.get(key);
    const name = formatKey(key);
    if (!readYourWrites.seen(name)) return { requeueAfterMs: CATCH_UP_MS };
    const existing = slicesOf(slices, name, MANAGER);
    const isWanted = service !== undefined && service.spec?.selector === undefined;
    const owner: Endpoints = source ?? { metadata: { ...key } };
    const groups = source !== undefined && isWanted && isMirrored(source) ? mirrorGroups(source) : [];
    const rules = mirrorRules(owner);
    const plan = planSlices(existing, groups, rules);
    await writeSlices({ client, slices, readYourWrites }, { type: endpointsType, owner }, { ...plan, rules });
    return settled;
  },
});

import type { Service } from '../../../api/generated/core-v1.ts';
import { formatKey } from '../../../api/resource.ts';
import { endpointSliceType, nodeType, podType, serviceType } from '../../../api/resource-types.ts';
import { defineController, settled } from '../../../machinery/runtime/index.ts';
import { ReadYourWrites } from '../../shared/pod-control/index.ts';
import {
  hasBackends,
  indexSlices,
  isHeadless,
  MANAGED_BY,
  planSlices,
  SERVICE_NAME,
  type SliceRules,
  selectsPod,
  slicesOf,
  watchBackends,
  watchSlices,
  writeSlices,
} from '../../shared/service-backends/index.ts';
import { computeGroups } from './groups.ts';

const MANAGER = 'endpointslice-controller.k8s.io';
const HEADLESS = 'service.kubernetes.io/headless';
const MAX_ENDPOINTS = 100;
const CATCH_UP_MS = 100;

/** Keeps the EndpointSlices of every service with a selector in line with the pods it selects. */
export const endpointSliceController = defineController({
  name: 'endpoint-slice',
  workers: 5,
  deps({ client, informers }) {
    return {
      client,
      services: informers.of(serviceType),
      pods: informers.of(podType),
      nodes: informers.of(nodeType),
      slices: indexSlices(informers.of(endpointSliceType)),
      readYourWrites: new ReadYourWrites(),
    };
  },
  watches: ({ pods, services, slices }) => [...watchBackends(services, pods), watchSlices(slices, MANAGER)],
  async reconcile({ client, nodes, readYourWrites, pods, services, slices }, key) {
    const service = services.get(key);
    const name = formatKey(key);
    if (service === undefined || service.metadata.deletionTimestamp || !hasBackends(service)) {
      // The garbage collector takes the slices of a service that is gone.
      readYourWrites.forget(name);
      return settled;
    }
    // An older copy of the slices would make us write them twice.
    if (!readYourWrites.seen(name)) return { requeueAfterMs: CATCH_UP_MS };
    const backing = pods.list(key.namespace).filter(({ metadata }) => selectsPod(service, metadata.labels));
    const groups = computeGroups(service, backing, (node) => nodes.get({ name: node }));
    const rules = rulesFor(service);
    const plan = planSlices(slicesOf(slices, name, MANAGER), groups, rules);
    await writeSlices({ client, slices, readYourWrites }, { type: serviceType, owner: service }, { ...plan, rules });
    return settled;
  },
});

function rulesFor(service: Service): SliceRules {
  const labels: Record<string, string> = { ...service.metadata.labels };
  delete labels[HEADLESS];
  if (isHeadless(service)) labels[HEADLESS] = '';
  labels[SERVICE_NAME] = service.metadata.name ?? '';
  labels[MANAGED_BY] = MANAGER;
  return { labels, maxEndpoints: MAX_ENDPOINTS };
}

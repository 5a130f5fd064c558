import type { Service } from '../../api/generated/core-v1.ts';
import { formatKey, type ObjectKey } from '../../api/resource.ts';
import { endpointSliceType, nodeType, podType, serviceType } from '../../api/resource-types.ts';
import {
  type ReconcileResult,
  type RunningController,
  runController,
  type StartController,
  settled,
} from '../../machinery/runtime/index.ts';
import { OwnWrites } from '../pod-control/index.ts';
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
} from '../service-backends/index.ts';
import { computeGroups } from './groups.ts';

const MANAGER = 'endpointslice-controller.k8s.io';
const HEADLESS = 'service.kubernetes.io/headless';
const MAX_ENDPOINTS = 100;
const CATCH_UP_MS = 100;

/** Keeps the EndpointSlices of every service with a selector in line with the pods it selects. */
export const startEndpointSliceController: StartController = (context): RunningController => {
  const { client, informers } = context;
  const services = informers.of(serviceType);
  const pods = informers.of(podType);
  const nodes = informers.of(nodeType);
  const slices = informers.of(endpointSliceType);
  const ownWrites = new OwnWrites();
  indexSlices(slices);

  async function reconcile(key: ObjectKey): Promise<ReconcileResult> {
    const service = services.get(key);
    const name = formatKey(key);
    if (service === undefined || service.metadata.deletionTimestamp || !hasBackends(service)) {
      // The garbage collector takes the slices of a service that is gone.
      ownWrites.forget(name);
      return settled;
    }
    // An older copy of the slices would make us write them twice.
    if (!ownWrites.seen(name)) return { requeueAfterMs: CATCH_UP_MS };
    const backing = pods.list(key.namespace).filter(({ metadata }) => selectsPod(service, metadata.labels));
    const groups = computeGroups(service, backing, (node) => nodes.get({ name: node }));
    const rules = rulesFor(service);
    const plan = planSlices(slicesOf(slices, name, MANAGER), groups, rules);
    await writeSlices({ client, slices, ownWrites }, { type: serviceType, owner: service }, { ...plan, rules });
    return settled;
  }

  const { queue } = runController({
    name: 'endpoint-slice',
    context,
    workers: 5,
    ready: async () => {
      await Promise.all([services, pods, nodes, slices].map((informer) => informer.whenSynced()));
    },
    reconcile,
  });
  watchBackends(services, pods, queue);
  watchSlices(slices, MANAGER, queue);
  return { name: 'endpoint-slice', queues: [queue] };
};

function rulesFor(service: Service): SliceRules {
  const labels: Record<string, string> = { ...service.metadata.labels };
  delete labels[HEADLESS];
  if (isHeadless(service)) labels[HEADLESS] = '';
  labels[SERVICE_NAME] = service.metadata.name ?? '';
  labels[MANAGED_BY] = MANAGER;
  return { labels, maxEndpoints: MAX_ENDPOINTS };
}

import type { Endpoints, Service } from '../../api/generated/core-v1.ts';
import { keyOf, type ObjectKey, parseKey } from '../../api/resource.ts';
import { endpointsType, podType, serviceType } from '../../api/resource-types.ts';
import {
  isNotFound,
  type ReconcileResult,
  type RunningController,
  runController,
  type StartController,
  settled,
} from '../../machinery/runtime/index.ts';
import { semanticEqual } from '../../machinery/values/index.ts';
import { hasBackends, isHeadless, selectsPod, watchBackends } from '../service-backends/index.ts';
import { computeSubsets } from './subsets.ts';

const HEADLESS = 'service.kubernetes.io/headless';
const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const MANAGER = 'endpoint-controller';
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity';

/** Keeps the Endpoints of every service with a selector in line with the pods it selects. */
export const startEndpointsController: StartController = (context): RunningController => {
  const { client, informers } = context;
  const services = informers.of(serviceType);
  const pods = informers.of(podType);
  const endpoints = informers.of(endpointsType);

  async function reconcile(key: ObjectKey): Promise<ReconcileResult> {
    const service = services.get(key);
    if (service === undefined) {
      // Whatever the cache says: Endpoints written a moment ago may not have reached it yet.
      await remove(key);
      return settled;
    }
    if (!hasBackends(service)) return settled;
    const current = endpoints.get(key);
    const backing = pods.list(key.namespace).filter(({ metadata }) => selectsPod(service, metadata.labels));
    const { subsets, truncated } = computeSubsets(service, backing);
    const wanted = describe(service, current, { subsets, truncated });
    if (current === undefined) await client.create(endpointsType, wanted);
    else if (!isSame(current, wanted)) await client.update(endpointsType, wanted);
    return settled;
  }

  async function remove(key: ObjectKey): Promise<void> {
    try {
      await client.delete(endpointsType, key);
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  const { queue } = runController({
    name: 'endpoints',
    context,
    workers: 5,
    ready: async () => {
      await Promise.all([services.whenSynced(), pods.whenSynced(), endpoints.whenSynced()]);
    },
    reconcile,
  });
  watchBackends(services, pods, queue);
  // Endpoints without a service are somebody's own; only those of a service that went are taken away with it.
  const wake = (object: Endpoints) => {
    const key = keyOf(object);
    if (services.get(parseKey(key)) !== undefined) queue.add(key);
  };
  endpoints.addHandler({ updated: wake, deleted: wake });
  return { name: 'endpoints', queues: [queue] };
};

function describe(
  service: Service,
  current: Endpoints | undefined,
  { subsets, truncated }: ReturnType<typeof computeSubsets>,
): Endpoints {
  const { name, namespace, labels } = service.metadata;
  const annotations = { ...current?.metadata.annotations };
  if (truncated) annotations[OVER_CAPACITY] = 'truncated';
  else delete annotations[OVER_CAPACITY];
  return {
    metadata: {
      ...(current?.metadata ?? { name, namespace }),
      labels: { ...labels, ...(isHeadless(service) && { [HEADLESS]: '' }), [MANAGED_BY]: MANAGER },
      annotations,
    },
    subsets,
  };
}

function isSame(current: Endpoints, wanted: Endpoints): boolean {
  return (
    semanticEqual(current.subsets ?? [], wanted.subsets ?? []) &&
    semanticEqual(current.metadata.labels ?? {}, wanted.metadata.labels ?? {}) &&
    semanticEqual(current.metadata.annotations ?? {}, wanted.metadata.annotations ?? {})
  );
}

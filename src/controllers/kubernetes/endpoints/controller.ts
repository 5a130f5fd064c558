import type { Endpoints, Service } from '../../../api/generated/core-v1.ts';
import { keyOf, type ObjectKey, parseKey } from '../../../api/resource.ts';
import { endpointsType, podType, serviceType } from '../../../api/resource-types.ts';
import { type Client, defineController, isNotFound, settled, watch } from '../../../machinery/runtime/index.ts';
import { semanticEqual } from '../../../machinery/values/index.ts';
import { hasBackends, isHeadless, selectsPod, watchBackends } from '../../shared/service-backends/index.ts';
import { computeSubsets } from './subsets.ts';

const HEADLESS = 'service.kubernetes.io/headless';
const MANAGED_BY = 'endpoints.kubernetes.io/managed-by';
const MANAGER = 'endpoint-controller';
const OVER_CAPACITY = 'endpoints.kubernetes.io/over-capacity';

/** Keeps the Endpoints of every service with a selector in line with the pods it selects. */
export const endpointsController = defineController({
  name: 'endpoints',
  workers: 5,
  deps: ({ client, informers }) => ({
    client,
    services: informers.of(serviceType),
    pods: informers.of(podType),
    endpoints: informers.of(endpointsType),
  }),
  watches({ endpoints, pods, services }) {
    // Endpoints without a service are somebody's own; only those of a service that went are taken away with it.
    const ofService = (object: Endpoints): string[] => {
      const key = keyOf(object);
      return services.get(parseKey(key)) === undefined ? [] : [key];
    };
    return [...watchBackends(services, pods), watch(endpoints, { updated: ofService, deleted: ofService })];
  },
  async reconcile({ client, endpoints, pods, services }, key) {
    const service = services.get(key);
    if (service === undefined) {
      // Whatever the cache says: Endpoints written a moment ago may not have reached it yet.
      await remove(client, key);
      return settled;
    }
    if (!hasBackends(service)) return settled;
    const current = endpoints.get(key);
    const backing = pods.list(key.namespace).filter(({ metadata }) => selectsPod(service, metadata.labels));
    const wanted = describe(service, current, computeSubsets(service, backing));
    if (current === undefined) await client.create(endpointsType, wanted);
    else if (!isSame(current, wanted)) await client.update(endpointsType, wanted);
    return settled;
  },
});

async function remove(client: Client, key: ObjectKey): Promise<void> {
  try {
    await client.delete(endpointsType, key);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

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

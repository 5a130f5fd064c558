/** The quality-of-service class a pod gets from its requests and limits. */
import type { Pod } from '../../../api/generated/core-v1.ts';
import { compareQuantities, isQuantity } from '../../../machinery/values/index.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const COUNTED = ['cpu', 'memory'];

export function qosClassOf(pod: Pod): QosClass {
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const podLevel = (pod.spec as { resources?: { requests?: Record<string, string>; limits?: Record<string, string> } })
    ?.resources;
  const resources = podLevel ? [podLevel] : containers.map((container) => container.resources ?? {});
  let any = false;
  let guaranteed = true;
  for (const { requests = {}, limits = {} } of resources) {
    for (const name of COUNTED) {
      const request = positive(requests[name]);
      const limit = positive(limits[name]);
      if (request !== undefined || limit !== undefined) any = true;
      if (limit === undefined || (request !== undefined && compareQuantities(request, limit) !== 0)) guaranteed = false;
    }
  }
  if (!any) return 'BestEffort';
  return guaranteed ? 'Guaranteed' : 'Burstable';
}

function positive(quantity: string | undefined): string | undefined {
  if (quantity === undefined || !isQuantity(quantity)) return undefined;
  return compareQuantities(quantity, '0') > 0 ? quantity : undefined;
}

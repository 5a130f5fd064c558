import type { Pod, Service } from '../../../api/generated/core-v1.ts';
import { keyOf } from '../../../api/resource.ts';
import { type Informer, type Watch, watch } from '../../../machinery/runtime/index.ts';
import { isSameBackend, selectsPod } from './backends.ts';

/** Wakes services when they, or pods they select, change. */
export function watchBackends(services: Informer<Service>, pods: Informer<Pod>): Watch[] {
  const selecting = ({ metadata }: Pod): string[] =>
    services.list(metadata.namespace).flatMap((one) => (selectsPod(one, metadata.labels) ? [keyOf(one)] : []));
  return [
    watch(services),
    watch(pods, {
      added: selecting,
      updated: (pod, old) => (isSameBackend(pod, old) ? [] : [...selecting(old), ...selecting(pod)]),
      deleted: selecting,
    }),
  ];
}

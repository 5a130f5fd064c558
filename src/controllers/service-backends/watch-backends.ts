import type { Pod, Service } from '../../api/generated/core-v1.ts';
import { keyOf } from '../../api/resource.ts';
import type { Informer, WorkQueue } from '../../machinery/runtime/index.ts';
import { isSameBackend, selectsPod } from './backends.ts';

/** Wakes services when they, or pods they select, change. */
export function watchBackends(services: Informer<Service>, pods: Informer<Pod>, queue: WorkQueue): void {
  const wake = ({ metadata }: Pod) => {
    for (const service of services.list(metadata.namespace)) {
      if (selectsPod(service, metadata.labels)) queue.add(keyOf(service));
    }
  };
  services.addHandler({
    added: (service) => queue.add(keyOf(service)),
    updated: (service) => queue.add(keyOf(service)),
    deleted: (service) => queue.add(keyOf(service)),
  });
  pods.addHandler({
    added: wake,
    updated: (pod, old) => {
      if (isSameBackend(pod, old)) return;
      wake(old);
      wake(pod);
    },
    deleted: wake,
  });
}

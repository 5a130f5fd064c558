import { keyOf } from '../../api/resource.ts';
import { horizontalPodAutoscalerType, podType } from '../../api/resource-types.ts';
import { runController, type StartController } from '../../machinery/runtime/index.ts';
import { reconcileAutoscaler } from './reconcile.ts';
import { TargetSelectors } from './target-pods.ts';

const NAME = 'horizontal-pod-autoscaler';

/** Sizes workloads by what their pods are measured to use, every 15 seconds and whenever an autoscaler changes. */
export const startHorizontalPodAutoscalerController: StartController = (context) => {
  const autoscalers = context.informers.of(horizontalPodAutoscalerType);
  const pods = context.informers.of(podType);
  const deps = {
    context,
    autoscalers,
    pods,
    events: context.eventsFor(NAME),
    histories: new Map(),
    selectors: new TargetSelectors(),
  };
  const { queue } = runController({
    name: NAME,
    context,
    workers: 5,
    reconcile: (key) => reconcileAutoscaler(deps, key),
    ready: async () => {
      await Promise.all([autoscalers.whenSynced(), pods.whenSynced()]);
    },
  });
  autoscalers.addHandler({
    added: (autoscaler) => queue.add(keyOf(autoscaler)),
    // Our own status writes come back as updates; only a new spec is worth an early look.
    updated: (autoscaler, old) => {
      if (autoscaler.metadata.generation !== old.metadata.generation) queue.add(keyOf(autoscaler));
    },
    deleted: (autoscaler) => queue.add(keyOf(autoscaler)),
  });
  return { name: NAME, queues: [queue] };
};

import { keyOf } from '../../../api/resource.ts';
import { horizontalPodAutoscalerType, podType } from '../../../api/resource-types.ts';
import { defineController, watch } from '../../../machinery/runtime/index.ts';
import { reconcileAutoscaler } from './reconcile.ts';
import { TargetSelectors } from './target-pods.ts';

const NAME = 'horizontal-pod-autoscaler';

/** Sizes workloads by what their pods are measured to use, every 15 seconds and whenever an autoscaler changes. */
export const horizontalPodAutoscalerController = defineController({
  name: NAME,
  workers: 5,
  deps: (context) => ({
    context,
    autoscalers: context.informers.of(horizontalPodAutoscalerType),
    pods: context.informers.of(podType),
    events: context.eventsFor(NAME),
    histories: new Map(),
    selectors: new TargetSelectors(),
  }),
  watches: ({ autoscalers }) => [
    watch(autoscalers, {
      added: keyOf,
      // Our own status writes come back as updates; only a new spec is worth an early look.
      updated: (autoscaler, old) =>
        autoscaler.metadata.generation === old.metadata.generation ? undefined : keyOf(autoscaler),
      deleted: keyOf,
    }),
  ],
  reconcile: reconcileAutoscaler,
});

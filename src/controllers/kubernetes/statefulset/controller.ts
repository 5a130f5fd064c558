import {
  controllerRevisionType,
  persistentVolumeClaimType,
  podType,
  statefulSetType,
} from '../../../api/resource-types.ts';
import { defineController, watch } from '../../../machinery/runtime/index.ts';
import { matches } from '../../../machinery/values/index.ts';
import {
  cachedSelector,
  Expectations,
  indexByController,
  ReadYourWrites,
  watchPods,
} from '../../shared/pod-control/index.ts';
import { reconcileStatefulSet } from './reconcile.ts';

export const statefulSetController = defineController({
  name: 'statefulset',
  workers: 5,
  deps(context) {
    const { client, clock, informers } = context;
    return {
      client,
      clock,
      events: context.eventsFor('statefulset-controller'),
      sets: informers.of(statefulSetType),
      pods: indexByController(informers.of(podType)),
      revisions: indexByController(informers.of(controllerRevisionType)),
      claims: informers.of(persistentVolumeClaimType),
      writes: new ReadYourWrites(),
    };
  },
  watches: ({ clock, pods, sets }) => [
    watch(sets),
    watchPods({
      pods,
      owners: sets,
      ownerType: statefulSetType,
      expectations: new Expectations(clock),
      selects: ({ spec }, pod) => matches(cachedSelector(spec?.selector), pod.metadata.labels),
      minReadySecondsOf: ({ spec }) => spec?.minReadySeconds ?? 0,
    }),
  ],
  reconcile: reconcileStatefulSet,
});

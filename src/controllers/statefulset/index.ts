import {
  controllerRevisionType,
  persistentVolumeClaimType,
  podType,
  statefulSetType,
} from '../../api/resource-types.ts';
import { keyOf } from '../../api/resource.ts';
import {
  type RunningController,
  runController,
  type StartController,
  WorkQueue,
} from '../../machinery/runtime/index.ts';
import { matches } from '../../machinery/values/index.ts';
import { cachedSelector, Expectations, indexByController, OwnWrites, watchPods } from '../pod-control/index.ts';
import { reconcileStatefulSet } from './reconcile.ts';

export const startStatefulSetController: StartController = (context): RunningController => {
  const { client, clock, informers, metrics } = context;
  const sets = informers.of(statefulSetType);
  const pods = informers.of(podType);
  const revisions = informers.of(controllerRevisionType);
  const claims = informers.of(persistentVolumeClaimType);
  indexByController(pods);
  indexByController(revisions);
  const queue = new WorkQueue({ name: 'statefulset', clock, metrics });
  const events = context.eventsFor('statefulset-controller');
  const deps = { client, clock, events, sets, pods, revisions, claims, writes: new OwnWrites() };
  const look = (set: Parameters<typeof keyOf>[0]): void => queue.add(keyOf(set));
  sets.addHandler({ added: look, updated: look, deleted: look });
  watchPods({
    pods,
    owners: sets,
    ownerType: statefulSetType,
    queue,
    expectations: new Expectations(clock),
    selects: ({ spec }, pod) => matches(cachedSelector(spec?.selector), pod.metadata.labels),
    minReadySecondsOf: ({ spec }) => spec?.minReadySeconds ?? 0,
  });
  runController({
    name: 'statefulset',
    context,
    queue,
    workers: 5,
    ready: async () => {
      await Promise.all([sets, pods, revisions, claims].map((informer) => informer.whenSynced()));
    },
    reconcile: (key) => reconcileStatefulSet(deps, key),
  });
  return { name: 'statefulset', queues: [queue] };
};

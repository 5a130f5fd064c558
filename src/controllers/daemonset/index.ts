import { controllerRevisionType, daemonSetType, nodeType, podType } from '../../api/resource-types.ts';
import { keyOf } from '../../api/resource.ts';
import {
  type RunningController,
  runController,
  type StartController,
  WorkQueue,
} from '../../machinery/runtime/index.ts';
import { deepEqual, matches } from '../../machinery/values/index.ts';
import {
  cachedSelector,
  createPodControl,
  Expectations,
  indexByController,
  OwnWrites,
  watchPods,
} from '../pod-control/index.ts';
import { FailedPodBackOff } from './back-off.ts';
import { reconcileDaemonSet } from './reconcile.ts';

const BURST = 250;

export const startDaemonSetController: StartController = (context): RunningController => {
  const { client, clock, informers, metrics } = context;
  const sets = informers.of(daemonSetType);
  const nodes = informers.of(nodeType);
  const pods = informers.of(podType);
  const revisions = informers.of(controllerRevisionType);
  indexByController(pods);
  indexByController(revisions);
  const queue = new WorkQueue({ name: 'daemonset', clock, metrics });
  const events = context.eventsFor('daemonset-controller');
  const expectations = new Expectations(clock);
  const deps = {
    client,
    clock,
    control: createPodControl(client, events),
    events,
    sets,
    nodes,
    pods,
    revisions,
    expectations,
    writes: new OwnWrites(),
    backOff: new FailedPodBackOff(),
    burst: BURST,
  };

  const look = (set: Parameters<typeof keyOf>[0]): void => queue.add(keyOf(set));
  const lookAtAll = (): void => {
    for (const set of sets.list()) look(set);
  };
  sets.addHandler({
    added: look,
    updated(set, old) {
      if (set.metadata.uid !== old.metadata.uid) expectations.forget(keyOf(old));
      look(set);
    },
    deleted(set) {
      expectations.forget(keyOf(set));
      look(set);
    },
  });
  nodes.addHandler({
    added: lookAtAll,
    updated({ metadata, spec }, old) {
      if (!deepEqual(metadata.labels, old.metadata.labels) || !deepEqual(spec?.taints, old.spec?.taints)) lookAtAll();
    },
    deleted: lookAtAll,
  });
  watchPods({
    pods,
    owners: sets,
    ownerType: daemonSetType,
    queue,
    expectations,
    selects: ({ spec }, pod) => matches(cachedSelector(spec?.selector), pod.metadata.labels),
    minReadySecondsOf: ({ spec }) => spec?.minReadySeconds ?? 0,
  });
  runController({
    name: 'daemonset',
    context,
    queue,
    workers: 2,
    ready: async () => {
      await Promise.all([sets, nodes, pods, revisions].map((informer) => informer.whenSynced()));
    },
    reconcile: (key) => reconcileDaemonSet(deps, key),
  });
  return { name: 'daemonset', queues: [queue] };
};

import { controllerRevisionType, daemonSetType, nodeType, podType } from '../../../api/resource-types.ts';
import { keyOf } from '../../../api/resource.ts';
import { defineController, watch } from '../../../machinery/runtime/index.ts';
import { deepEqual, matches } from '../../../machinery/values/index.ts';
import {
  cachedSelector,
  createPodControl,
  Expectations,
  indexByController,
  ReadYourWrites,
  watchOwners,
  watchPods,
} from '../../shared/pod-control/index.ts';
import { FailedPodBackOff } from './back-off.ts';
import { reconcileDaemonSet } from './reconcile.ts';

const BURST = 250;

export const daemonSetController = defineController({
  name: 'daemonset',
  workers: 2,
  deps(context) {
    const { client, clock, informers } = context;
    const events = context.eventsFor('daemonset-controller');
    return {
      client,
      clock,
      control: createPodControl(client, events),
      events,
      sets: informers.of(daemonSetType),
      nodes: informers.of(nodeType),
      pods: indexByController(informers.of(podType)),
      revisions: indexByController(informers.of(controllerRevisionType)),
      expectations: new Expectations(clock),
      writes: new ReadYourWrites(),
      backOff: new FailedPodBackOff(),
      burst: BURST,
    };
  },
  watches({ expectations, nodes, pods, sets }) {
    const everySet = (): string[] => sets.list().map(keyOf);
    return [
      watchOwners(sets, expectations),
      watch(nodes, {
        added: everySet,
        updated({ metadata, spec }, old) {
          const same = deepEqual(metadata.labels, old.metadata.labels) && deepEqual(spec?.taints, old.spec?.taints);
          return same ? undefined : everySet();
        },
        deleted: everySet,
      }),
      watchPods({
        pods,
        owners: sets,
        ownerType: daemonSetType,
        expectations,
        selects: ({ spec }, pod) => matches(cachedSelector(spec?.selector), pod.metadata.labels),
        minReadySecondsOf: ({ spec }) => spec?.minReadySeconds ?? 0,
      }),
    ];
  },
  reconcile: reconcileDaemonSet,
});

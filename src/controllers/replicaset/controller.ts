import { keyOf } from '../../api/resource.ts';
import { podType } from '../../api/resource-types.ts';
import {
  type ControllerContext,
  FeatureGates,
  type RunningController,
  runController,
  type StartController,
  WorkQueue,
} from '../../machinery/runtime/index.ts';
import { matches } from '../../machinery/values/index.ts';
import { type AddressRules, createAddressPolicy, createHttpProtocol, type PickerProtocol } from '../picker/index.ts';
import { createPodControl, Expectations, indexByController, OwnWrites, watchPods } from '../pod-control/index.ts';
import type { ReplicaKind, ReplicaOwner } from './kind.ts';
import { reconcileReplicas } from './reconcile.ts';
import { Slots } from './slots.ts';

export interface ReplicaControllerOptions {
  readonly gates?: FeatureGates | undefined;
  /** Where pickers may live beyond, and may not live despite, the built-in rules. */
  readonly pickerAddresses?: AddressRules | undefined;
  /** PEM certificates that pickers' certificates may be signed by, beside the system's roots. */
  readonly pickerCertificates?: string | undefined;
  /** Replaces the ways pickers are asked. */
  readonly pickerProtocols?: readonly PickerProtocol[] | undefined;
  /** Passes that work at once; those waiting for a picker do not count. Default 5. */
  readonly workers?: number | undefined;
  /** Most pods created or deleted in one pass. Default 500. */
  readonly burst?: number | undefined;
}

/** Passes that may be under way, waiting for pickers included. */
const MAX_PASSES = 1024;

export function startReplicaController<T extends ReplicaOwner>(
  kind: ReplicaKind<T>,
  options: ReplicaControllerOptions = {},
): StartController {
  return (context) => run(kind, options, context);
}

function run<T extends ReplicaOwner>(
  kind: ReplicaKind<T>,
  options: ReplicaControllerOptions,
  context: ControllerContext,
): RunningController {
  const { burst = 500, gates = new FeatureGates(), pickerAddresses, pickerCertificates, workers = 5 } = options;
  const { client, clock, informers, metrics } = context;
  const owners = informers.of(kind.type);
  const pods = informers.of(podType);
  indexByController(owners);
  indexByController(pods);
  const events = context.eventsFor(kind.controller);
  const expectations = new Expectations(clock);
  const queue = new WorkQueue({ name: kind.controller, clock, metrics });
  const slots = new Slots(workers);
  const picker = options.pickerProtocols ?? [
    createHttpProtocol({
      client,
      addresses: createAddressPolicy(pickerAddresses),
      extraCertificates: pickerCertificates,
    }),
  ];
  const deps = {
    kind,
    context,
    gates,
    owners,
    pods,
    expectations,
    writes: new OwnWrites(),
    control: createPodControl(client, events),
    events,
    picker,
    slots,
    burst,
  };

  owners.addHandler({
    added: (owner) => queue.add(keyOf(owner)),
    updated(owner, old) {
      if (owner.metadata.uid !== old.metadata.uid) expectations.forget(keyOf(old));
      queue.add(keyOf(owner));
    },
    deleted(owner) {
      expectations.forget(keyOf(owner));
      queue.add(keyOf(owner));
    },
  });
  watchPods({
    pods,
    owners,
    ownerType: kind.type,
    queue,
    expectations,
    selects: (owner, pod) => matches(kind.selectorOf(owner), pod.metadata.labels),
    minReadySecondsOf: ({ spec }) => spec?.minReadySeconds ?? 0,
  });
  runController({
    name: kind.controller,
    context,
    queue,
    workers: MAX_PASSES,
    reconcile: (key) => slots.use(() => reconcileReplicas(deps, key)),
    ready: async () => {
      await Promise.all([owners.whenSynced(), pods.whenSynced()]);
    },
  });
  return { name: kind.controller, queues: [queue] };
}

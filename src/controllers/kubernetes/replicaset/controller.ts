import { podType } from '../../../api/resource-types.ts';
import { type Controller, defineController, FeatureGates } from '../../../machinery/runtime/index.ts';
import { matches } from '../../../machinery/values/index.ts';
import { type AddressRules, createAddressPolicy, createHttpProtocol } from '../../shared/picker/index.ts';
import {
  createPodControl,
  Expectations,
  indexByController,
  ReadYourWrites,
  watchOwners,
  watchPods,
} from '../../shared/pod-control/index.ts';
import { type ReplicaKind, type ReplicaOwner, replicaSetKind, replicationControllerKind } from './kind.ts';
import type { ReplicaDeps } from './deps.ts';
import { reconcileReplicas } from './reconcile.ts';
import { Slots } from './slots.ts';

export interface ReplicaControllerOptions {
  readonly gates?: FeatureGates | undefined;
  /** Where pickers may live beyond, and may not live despite, the built-in rules. */
  readonly pickerAddresses?: AddressRules | undefined;
  /** PEM certificates that pickers' certificates may be signed by, beside the system's roots. */
  readonly pickerCertificates?: string | undefined;
  /** Passes that work at once; those waiting for a picker do not count. Default 5. */
  readonly workers?: number | undefined;
  /** Most pods created or deleted in one pass. Default 500. */
  readonly burst?: number | undefined;
}

/** Passes that may be under way, waiting for pickers included. */
const MAX_PASSES = 1024;

export function createReplicaSetController(options?: ReplicaControllerOptions): Controller {
  return createReplicaController(replicaSetKind, options);
}

/** The same controller under the older kind. */
export function createReplicationControllerController(options?: ReplicaControllerOptions): Controller {
  return createReplicaController(replicationControllerKind, options);
}

function createReplicaController<T extends ReplicaOwner>(
  kind: ReplicaKind<T>,
  options: ReplicaControllerOptions = {},
): Controller {
  const { burst = 500, gates = new FeatureGates(), pickerAddresses, pickerCertificates, workers = 5 } = options;
  return defineController({
    name: kind.controller,
    workers: MAX_PASSES,
    deps(context): ReplicaDeps<T> {
      const { client, clock, informers } = context;
      const owners = informers.of(kind.type);
      const pods = informers.of(podType);
      indexByController(owners);
      indexByController(pods);
      const events = context.eventsFor(kind.controller);
      const addresses = createAddressPolicy(pickerAddresses);
      return {
        kind,
        context,
        gates,
        owners,
        pods,
        expectations: new Expectations(clock),
        writes: new ReadYourWrites(),
        control: createPodControl(client, events),
        events,
        picker: [createHttpProtocol({ client, addresses, extraCertificates: pickerCertificates })],
        slots: new Slots(workers),
        burst,
      };
    },
    watches: ({ expectations, owners, pods }) => [
      watchOwners(owners, expectations),
      watchPods({
        pods,
        owners,
        ownerType: kind.type,
        expectations,
        selects: (owner, pod) => matches(kind.selectorOf(owner), pod.metadata.labels),
        minReadySecondsOf: ({ spec }) => spec?.minReadySeconds ?? 0,
      }),
    ],
    reconcile: (deps, key) => deps.slots.use(() => reconcileReplicas(deps, key)),
  });
}

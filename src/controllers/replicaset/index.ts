import type { StartController } from '../../machinery/runtime/index.ts';
import { type ReplicaControllerOptions, startReplicaController } from './controller.ts';
import { replicaSetKind, replicationControllerKind } from './kind.ts';

export type { ReplicaControllerOptions } from './controller.ts';

export function createReplicaSetController(options?: ReplicaControllerOptions): StartController {
  return startReplicaController(replicaSetKind, options);
}

/** The same controller under the older kind. */
export function createReplicationControllerController(options?: ReplicaControllerOptions): StartController {
  return startReplicaController(replicationControllerKind, options);
}

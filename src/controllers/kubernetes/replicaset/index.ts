export {
  createReplicaSetController,
  createReplicationControllerController,
  type ReplicaControllerOptions,
} from './controller.ts';

/** The built-in kinds that controllers work with, tied to their object types. */
import type { Deployment, ReplicaSet } from './generated/apps-v1.ts';
import type { HorizontalPodAutoscaler } from './generated/autoscaling-v2.ts';
import type { Namespace, Node, Pod, ReplicationController, Secret } from './generated/core-v1.ts';
import { builtinType } from './registry.ts';
import type { ResourceType } from './resource.ts';

export const podType = builtinType('Pod') as ResourceType<Pod>;
export const nodeType = builtinType('Node') as ResourceType<Node>;
export const namespaceType = builtinType('Namespace') as ResourceType<Namespace>;
export const secretType = builtinType('Secret') as ResourceType<Secret>;
export const replicationControllerType = builtinType('ReplicationController') as ResourceType<ReplicationController>;
export const replicaSetType = builtinType('ReplicaSet', 'apps') as ResourceType<ReplicaSet>;
export const deploymentType = builtinType('Deployment', 'apps') as ResourceType<Deployment>;
export const horizontalPodAutoscalerType = builtinType(
  'HorizontalPodAutoscaler',
  'autoscaling',
) as ResourceType<HorizontalPodAutoscaler>;

import type { Lease } from '../api/generated/coordination-v1.ts';
import type { Node, Pod } from '../api/generated/core-v1.ts';
import { builtinType } from '../api/registry.ts';
import type { ResourceType } from '../api/resource.ts';

export const podType = builtinType('Pod') as ResourceType<Pod>;
export const nodeType = builtinType('Node') as ResourceType<Node>;
export const leaseType = builtinType('Lease', 'coordination.k8s.io') as ResourceType<Lease>;

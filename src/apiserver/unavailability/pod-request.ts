import type { Pod } from '../../api/generated/core-v1.ts';
import type { ProtectedOperation } from '../../api/kruise/types.ts';

/** A request that would disturb a pod. */
export interface PodRequest {
  readonly namespace: string;
  readonly pod: Pod;
  readonly operation: ProtectedOperation;
  readonly dryRun: boolean;
  readonly username: string;
}

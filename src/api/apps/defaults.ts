import type { Deployment, ReplicaSet } from '../generated/apps-v1.ts';
import { defaultPicker } from './picker-defaults.ts';

/** Defaults of the kind itself; those of the pod template are the pod's. */
export function defaultReplicaSet({ spec }: ReplicaSet): void {
  if (spec === undefined) return;
  spec.replicas ??= 1;
  defaultPicker(spec.downscalePodPicker);
}

/** Defaults of the kind itself; those of the pod template are the pod's. */
export function defaultDeployment({ spec }: Deployment): void {
  if (spec === undefined) return;
  spec.replicas ??= 1;
  spec.strategy ??= {};
  spec.strategy.type ||= 'RollingUpdate';
  if (spec.strategy.type === 'RollingUpdate') {
    spec.strategy.rollingUpdate ??= {};
    spec.strategy.rollingUpdate.maxUnavailable ??= '25%';
    spec.strategy.rollingUpdate.maxSurge ??= '25%';
  }
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  defaultPicker(spec.downscalePodPicker);
}

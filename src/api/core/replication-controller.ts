import { FieldPath, fromLabels, type Issue, required } from '../../machinery/values/index.ts';
import {
  nonNegative,
  type TemplateCheck,
  validateReplicaCounts,
  validateReplicaTemplate,
} from '../apps/replicas-validation.ts';
import type { ReplicationController } from '../generated/core-v1.ts';

const SPEC = FieldPath.of('spec');

/** Labels and selector come from the template when absent; those of the pod template are the pod's. */
export function defaultReplicationController({ metadata, spec }: ReplicationController): void {
  if (spec === undefined) return;
  const labels = spec.template?.metadata?.labels;
  if (labels !== undefined) {
    if (Object.keys(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
    if (Object.keys(metadata.labels ?? {}).length === 0) metadata.labels = { ...labels };
  }
  spec.replicas ??= 1;
}

/** Takes a defaulted ReplicationController. */
export function validateReplicationController({ spec }: ReplicationController, check: TemplateCheck): Issue[] {
  if (spec === undefined) return [required(SPEC)];
  const selector = spec.selector ?? {};
  return [
    ...nonNegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
    ...(Object.keys(selector).length === 0 ? [required(SPEC.child('selector'))] : []),
    ...nonNegative(spec.replicas, SPEC.child('replicas')),
    ...validateReplicaTemplate(spec.template, SPEC.child('template'), {
      kind: 'ReplicationController',
      selector: fromLabels(selector),
      check,
    }),
  ];
}

export function validateReplicationControllerStatus({ status }: ReplicationController): Issue[] {
  return status === undefined ? [] : validateReplicaCounts(status, FieldPath.of('status'));
}

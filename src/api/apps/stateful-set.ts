import {
  checkDnsLabel,
  FieldPath,
  forbidden,
  invalid,
  type Issue,
  notSupported,
  required,
  semanticEqual,
  validateName,
} from '../../machinery/values/index.ts';
import type { StatefulSet, StatefulSetSpec } from '../generated/apps-v1.ts';
import { validateSetSelector } from './set-selector.ts';
import {
  collisionsOnlyGrow,
  nonNegative,
  positiveIntOrPercent,
  type TemplateCheck,
  validateReplicaCounts,
} from './replicas-validation.ts';

const SPEC = FieldPath.of('spec');
const STATUS = FieldPath.of('status');

/** Defaults of the kind itself; those of the pod template are the pod's. */
export function defaultStatefulSet({ spec }: StatefulSet): void {
  if (spec === undefined) return;
  spec.podManagementPolicy ||= 'OrderedReady';
  spec.updateStrategy ??= {};
  if (!spec.updateStrategy.type) {
    spec.updateStrategy.type = 'RollingUpdate';
    spec.updateStrategy.rollingUpdate ??= {};
  }
  if (spec.updateStrategy.type === 'RollingUpdate' && spec.updateStrategy.rollingUpdate) {
    spec.updateStrategy.rollingUpdate.partition ??= 0;
  }
  spec.persistentVolumeClaimRetentionPolicy ??= {};
  spec.persistentVolumeClaimRetentionPolicy.whenDeleted ||= 'Retain';
  spec.persistentVolumeClaimRetentionPolicy.whenScaled ||= 'Retain';
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  for (const claim of spec.volumeClaimTemplates ?? []) {
    claim.apiVersion ??= 'v1';
    claim.kind ??= 'PersistentVolumeClaim';
    if (claim.spec) claim.spec.volumeMode ??= 'Filesystem';
    claim.status ??= { phase: 'Pending' };
  }
}

/** Takes a defaulted StatefulSet. */
export function validateStatefulSet({ spec }: StatefulSet, check: TemplateCheck): Issue[] {
  if (spec === undefined) return [required(SPEC)];
  const { ordinals, serviceName } = spec;
  return [
    ...validatePolicies(spec),
    ...nonNegative(spec.replicas, SPEC.child('replicas')),
    ...nonNegative(spec.minReadySeconds, SPEC.child('minReadySeconds')),
    ...nonNegative(ordinals?.start, SPEC.child('ordinals.start')),
    ...(serviceName ? validateName(SPEC.child('serviceName'), serviceName, checkDnsLabel) : []),
    ...validateSetSelector(spec.selector, withClaimVolumes(spec), {
      kind: 'StatefulSet',
      emptyText: 'empty selector is invalid for statefulset',
      check,
    }),
  ];
}

/** The volumes that claims will provide count as declared. */
function withClaimVolumes({ template, volumeClaimTemplates = [] }: StatefulSetSpec): StatefulSetSpec['template'] {
  if (volumeClaimTemplates.length === 0 || template?.spec === undefined) return template;
  const provided = volumeClaimTemplates.map(({ metadata }) => ({
    name: metadata.name ?? '',
    persistentVolumeClaim: { claimName: metadata.name ?? '' },
  }));
  const own = (template.spec.volumes ?? []).filter(({ name }) => !provided.some((volume) => volume.name === name));
  return { ...template, spec: { ...template.spec, volumes: [...provided, ...own] } };
}

function validatePolicies(spec: StatefulSetSpec): Issue[] {
  const issues: Issue[] = [];
  const { persistentVolumeClaimRetentionPolicy: retention, podManagementPolicy, updateStrategy } = spec;
  if (podManagementPolicy !== 'OrderedReady' && podManagementPolicy !== 'Parallel') {
    issues.push(
      invalid(SPEC.child('podManagementPolicy'), podManagementPolicy, "must be 'OrderedReady' or 'Parallel'"),
    );
  }
  const path = SPEC.child('updateStrategy');
  const rolling = updateStrategy?.rollingUpdate;
  if (updateStrategy?.type === 'OnDelete') {
    if (rolling !== undefined) {
      issues.push(invalid(path.child('rollingUpdate'), rolling, "only allowed for updateStrategy 'RollingUpdate'"));
    }
  } else if (updateStrategy?.type !== 'RollingUpdate') {
    issues.push(invalid(path, updateStrategy, "must be 'RollingUpdate' or 'OnDelete'"));
  }
  issues.push(...nonNegative(rolling?.partition, path.child('rollingUpdate', 'partition')));
  issues.push(...positiveIntOrPercent(rolling?.maxUnavailable, path.child('rollingUpdate', 'maxUnavailable')));
  for (const name of ['whenDeleted', 'whenScaled'] as const) {
    const value = retention?.[name];
    if (value !== undefined && value !== 'Retain' && value !== 'Delete') {
      const at = SPEC.child('persistentVolumeClaimRetentionPolicy', name);
      issues.push(notSupported(at, value, ['Retain', 'Delete']));
    }
  }
  return issues;
}

const MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;

export function validateStatefulSetUpdate(update: StatefulSet, old: StatefulSet, check: TemplateCheck): Issue[] {
  const issues = validateStatefulSet(update, check);
  const fixed = ({ spec }: StatefulSet): object => {
    const copy: Record<string, unknown> = { ...spec };
    for (const name of MUTABLE) delete copy[name];
    return copy;
  };
  if (!semanticEqual(fixed(update), fixed(old))) {
    const names = MUTABLE.slice(0, -1)
      .map((name) => `'${name}'`)
      .join(', ');
    issues.push(
      forbidden(SPEC, `updates to statefulset spec for fields other than ${names} and 'minReadySeconds' are forbidden`),
    );
  }
  return issues;
}

export function validateStatefulSetStatus({ status }: StatefulSet, old: StatefulSet): Issue[] {
  if (status === undefined) return [];
  const issues = [
    ...validateReplicaCounts(status, STATUS),
    ...nonNegative(status.currentReplicas, STATUS.child('currentReplicas')),
  ];
  if ((status.currentReplicas ?? 0) > status.replicas) {
    issues.push(
      invalid(STATUS.child('currentReplicas'), status.currentReplicas, 'cannot be greater than status.replicas'),
    );
  }
  return [...issues, ...collisionsOnlyGrow(status, old.status)];
}

import { FieldPath, invalid, type Issue, notSupported, required } from '../../machinery/values/index.ts';
import { defaultPicker } from '../apps/picker-defaults.ts';
import { pickerWarnings, validatePicker } from '../apps/picker-validation.ts';
import type { DownscalePodPicker } from '../generated/apps-v1.ts';
import type { ObjectMeta } from '../generated/meta-v1.ts';
import type { ResourceType } from '../resource.ts';
import { QUORATE_GROUP } from './types.ts';

/**
 * Gives a workload of a cluster what `spec.downscalePodPicker` gives it on the embedded host, where the cluster's own
 * kinds do not have that field.
 */
export interface DownscalePodPickerObject {
  apiVersion?: string | undefined;
  kind?: string | undefined;
  metadata: ObjectMeta;
  spec?: DownscalePodPickerSpec | undefined;
}

export interface DownscalePodPickerSpec extends DownscalePodPicker {
  targetRef: PickerTarget;
}

export interface PickerTarget {
  apiVersion?: string | undefined;
  kind: string;
  name: string;
}

export const downscalePodPickerType: ResourceType<DownscalePodPickerObject> = {
  group: QUORATE_GROUP,
  version: 'v1alpha1',
  kind: 'DownscalePodPicker',
  plural: 'downscalepodpickers',
  namespaced: true,
};

const TARGET_KINDS = ['Deployment', 'ReplicaSet'];
const TARGET_VERSION = 'apps/v1';

/** The picker an object describes, with what it leaves out filled in. */
export function pickerOf({ spec }: DownscalePodPickerObject): DownscalePodPicker {
  const picker = structuredClone({
    ...(spec?.http === undefined ? {} : { http: spec.http }),
    ...(spec?.maxRetries === undefined ? {} : { maxRetries: spec.maxRetries }),
    ...(spec?.timeoutSeconds === undefined ? {} : { timeoutSeconds: spec.timeoutSeconds }),
  });
  defaultPicker(picker);
  return picker;
}

/** `others` are the pickers of the same namespace: a workload listens to one. */
export function validateDownscalePodPicker(
  object: DownscalePodPickerObject,
  others: readonly DownscalePodPickerObject[],
): Issue[] {
  const path = FieldPath.of('spec');
  const target = object.spec?.targetRef;
  const at = path.child('targetRef');
  const issues: Issue[] = [];
  if (target === undefined || target === null) issues.push(required(at));
  else {
    if ((target.apiVersion ?? TARGET_VERSION) !== TARGET_VERSION) {
      issues.push(notSupported(at.child('apiVersion'), target.apiVersion ?? '', [TARGET_VERSION]));
    }
    if (!TARGET_KINDS.includes(target.kind)) issues.push(notSupported(at.child('kind'), target.kind, TARGET_KINDS));
    if (!target.name) issues.push(required(at.child('name')));
    const rival = others.find(
      ({ metadata, spec }) => metadata.name !== object.metadata.name && isSameTarget(spec?.targetRef, target),
    );
    if (rival !== undefined) {
      issues.push(invalid(at, `${target.kind}/${target.name}`, `${rival.metadata.name} picks for it already`));
    }
  }
  return [...issues, ...validatePicker(pickerOf(object), path)];
}

export function downscalePodPickerWarnings(object: DownscalePodPickerObject, longestSeconds: number): string[] {
  const picker = pickerOf(object);
  const seconds = picker.timeoutSeconds ?? 1;
  return [
    ...pickerWarnings(picker, FieldPath.of('spec')),
    ...(seconds > longestSeconds
      ? [`spec.timeoutSeconds: on a cluster a picker is waited for at most ${longestSeconds} seconds, not ${seconds}`]
      : []),
  ];
}

function isSameTarget(a: PickerTarget | undefined, b: PickerTarget): boolean {
  return a !== undefined && a.kind === b.kind && a.name === b.name;
}

/**
 * Which of a namespace's pickers speaks for a ReplicaSet. The Deployment above it comes first, as on the embedded host,
 * where a Deployment's picker overwrites that of its ReplicaSets; of two for one target the older, then the name.
 */
export function choosePicker(
  pickers: readonly DownscalePodPickerObject[],
  { deployment, replicaSet }: { readonly replicaSet: string; readonly deployment: string | undefined },
): DownscalePodPickerObject | undefined {
  const wanted: PickerTarget[] = [
    ...(deployment === undefined ? [] : [{ kind: 'Deployment', name: deployment }]),
    { kind: 'ReplicaSet', name: replicaSet },
  ];
  const age = ({ metadata }: DownscalePodPickerObject): string =>
    `${metadata.creationTimestamp ?? ''} ${metadata.name ?? ''}`;
  for (const target of wanted) {
    const [first] = pickers
      .filter(({ spec }) => isSameTarget(spec?.targetRef, target))
      .toSorted((a, b) => (age(a) < age(b) ? -1 : 1));
    if (first !== undefined) return first;
  }
  return undefined;
}

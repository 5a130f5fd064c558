import type { DeploymentSpec, DownscalePodPicker, ReplicaSetSpec } from '../generated/apps-v1.ts';

/** Fills what a picker leaves out, and spells the scheme the way it is stored. Idempotent. */
export function defaultPicker(picker: DownscalePodPicker | undefined): void {
  if (picker === undefined || picker === null) return;
  picker.maxRetries ??= 3;
  picker.timeoutSeconds ??= 1;
  const { http } = picker;
  if (http === undefined || http === null) return;
  http.path ??= '/';
  http.scheme = (http.scheme ?? 'HTTP').toUpperCase();
  for (const { valueFrom } of http.httpHeaders ?? []) {
    if (valueFrom?.secretKeyRef) valueFrom.secretKeyRef.optional ??= false;
  }
}

type PickerSpec = Pick<ReplicaSetSpec | DeploymentSpec, 'downscalePodPicker'>;

/** With the gate off, a picker cannot be set; one that is stored already may stay and be changed. */
export function dropDisabledPicker(spec: PickerSpec | undefined, old: PickerSpec | undefined, enabled: boolean): void {
  if (enabled || spec === undefined || old?.downscalePodPicker !== undefined) return;
  delete spec.downscalePodPicker;
}

import { defaultPicker } from '../../../api/apps/index.ts';
import type { Deployment, DownscalePodPicker, ReplicaSet, ReplicaSetSpec } from '../../../api/generated/apps-v1.ts';
import type { FeatureGates } from '../../../machinery/runtime/index.ts';
import { deepClone, semanticEqual } from '../../../machinery/values/index.ts';

/** True when a ReplicaSet does not carry its Deployment's picker. With the gate off pickers are left as they are. */
export function pickerDiffers(gates: FeatureGates, deployment: Deployment, replicaSet: ReplicaSet): boolean {
  if (!gates.enabled('DownscalePodPicker')) return false;
  return !semanticEqual(defaulted(deployment.spec?.downscalePodPicker), defaulted(replicaSet.spec?.downscalePodPicker));
}

/** The spec with the Deployment's picker, or without one if it has none. */
export function withPicker(gates: FeatureGates, deployment: Deployment, spec: ReplicaSetSpec): ReplicaSetSpec {
  if (!gates.enabled('DownscalePodPicker')) return spec;
  const { downscalePodPicker: _old, ...rest } = spec;
  const picker = deployment.spec?.downscalePodPicker;
  return picker === undefined ? rest : { ...rest, downscalePodPicker: deepClone(picker) };
}

function defaulted(picker: DownscalePodPicker | undefined): DownscalePodPicker | undefined {
  const copy = deepClone(picker);
  defaultPicker(copy);
  return copy;
}

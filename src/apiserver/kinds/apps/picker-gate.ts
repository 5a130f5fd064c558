import { dropDisabledPicker } from '../../../api/apps/index.ts';
import type { DeploymentSpec, ReplicaSetSpec } from '../../../api/generated/apps-v1.ts';
import type { ApiObject } from '../../exchange/object.ts';
import type { Strategy } from '../../registry/strategy.ts';

const specOf = (object: ApiObject) => object['spec'] as ReplicaSetSpec | DeploymentSpec | undefined;

/** The strategy of a kind whose pickers cannot be set: feature gate DownscalePodPicker is off. */
export function withoutPickers(strategy: Strategy): Strategy {
  return {
    ...strategy,
    prepareForCreate(object, context) {
      dropDisabledPicker(specOf(object), undefined, false);
      strategy.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      dropDisabledPicker(specOf(object), specOf(old), false);
      strategy.prepareForUpdate?.(object, old, context);
    },
  };
}

/** Resource types that tests address most. */
import type { ConfigMap } from '../api/generated/core-v1.ts';
import { builtinType } from '../api/registry.ts';
import type { ResourceType } from '../api/resource.ts';

export { podType } from '../api/resource-types.ts';

export const configMapType = builtinType('ConfigMap') as ResourceType<ConfigMap>;

/** An update is not blamed for what it did not touch. */
import type { JSONSchemaProps } from '../../api/generated/apiextensions-v1.ts';
import { deepEqual, isObject, type Issue } from '../../machinery/values/index.ts';

/** Issues of parts that the update changed; items of lists without keys cannot be told apart and always count. */
export function withoutUnchanged(
  issues: readonly Issue[],
  { object, old, schema }: { object: unknown; old: unknown; schema: JSONSchemaProps | undefined },
): Issue[] {
  return issues.filter(({ path }) => !isUnchanged(stepsOf(path), { object, old, schema }));
}

/** `spec.parts[0].name` as `spec`, `parts`, `0`, `name`. */
function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name]) =>
    index === undefined ? (name as string) : Number(index),
  );
}

function isUnchanged(
  steps: readonly (string | number)[],
  { object, old, schema }: { object: unknown; old: unknown; schema: JSONSchemaProps | undefined },
): boolean {
  let now = object;
  let before = old;
  let node: JSONSchemaProps | undefined = schema;
  for (const step of steps) {
    if (typeof step === 'number') {
      if (!Array.isArray(now) || !Array.isArray(before) || node?.['x-kubernetes-list-type'] !== 'map') return false;
      const keys = node['x-kubernetes-list-map-keys'] ?? [];
      const item: unknown = now[step];
      const same = (other: unknown): boolean =>
        isObject(item) && isObject(other) && keys.every((key) => deepEqual(item[key], other[key]));
      before = before.find(same);
      now = item;
      node = isObject(node.items) ? (node.items as JSONSchemaProps) : undefined;
    } else {
      if (!isObject(now) || !isObject(before)) return false;
      now = now[step];
      before = before[step];
      const inner: unknown = node?.properties?.[step] ?? node?.additionalProperties;
      node = isObject(inner) ? inner : undefined;
    }
    if (before === undefined && now !== undefined) return false;
    if (deepEqual(now, before)) return true;
  }
  return false;
}

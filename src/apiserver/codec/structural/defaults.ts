import { deepClone, isObject, type JsonObject, setOwn } from '../../../machinery/values/index.ts';
import { additionalOf, itemsOf, propertyOf, type StructuralSchema } from './schema.ts';

/**
 * Fills absent fields with the defaults of a structural schema, in place. A null for a field that is not nullable
 * counts as absent where there is a default, and so does null for such list items and map values.
 */
export function defaultCustom(value: unknown, schema: StructuralSchema | undefined): void {
  if (schema === undefined) return;
  if (Array.isArray(value)) defaultItems(value, itemsOf(schema));
  else if (isObject(value)) defaultMembers(value, schema);
}

const lacksValue = (value: unknown, schema: StructuralSchema): boolean =>
  value === undefined || (value === null && schema.nullable !== true);

function defaultMembers(object: JsonObject, schema: StructuralSchema): void {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (property.default === undefined) continue;
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (lacksValue(value, property)) setOwn(object, name, deepClone(property.default));
  }
  const additional = additionalOf(schema);
  for (const name of Object.keys(object)) {
    const own = propertyOf(schema, name);
    if (own !== undefined) defaultCustom(object[name], own);
    else if (additional !== undefined && additional !== true) {
      if (object[name] === null && additional.nullable !== true && additional.default !== undefined) {
        setOwn(object, name, deepClone(additional.default));
      }
      defaultCustom(object[name], additional);
    }
  }
}

function defaultItems(list: unknown[], items: StructuralSchema | undefined): void {
  if (items === undefined) return;
  for (let i = 0; i < list.length; i++) {
    if (list[i] === null && items.nullable !== true && items.default !== undefined) list[i] = deepClone(items.default);
    defaultCustom(list[i], items);
  }
}

import { splitApiVersion } from '../../api/resource.ts';
import { nodeOfStruct, type ObjectNode, type Schema, type StructSchema } from '../../api/schema/index.ts';
import { isObject } from '../../machinery/values/index.ts';
import type { Resource } from '../registry/resource.ts';
import { nodeOfCustom, type StructuralSchema } from './structural/index.ts';

/** What the server knows of the fields of a kind. */
export type KindSchema =
  | { readonly custom: false; readonly struct: StructSchema }
  | { readonly custom: true; readonly schema: StructuralSchema | undefined };

export function kindSchemaOf(
  schema: Schema,
  resource: Resource | undefined,
  type: { readonly apiVersion: string; readonly kind: string },
): KindSchema | undefined {
  const { group, version } = splitApiVersion(type.apiVersion);
  if (resource?.custom === true && resource.kind === type.kind) {
    const found = resource.schemaFor?.(version);
    return { custom: true, schema: isObject(found) ? (found as StructuralSchema) : undefined };
  }
  const struct = schema.kind({ group, version, kind: type.kind });
  return struct === undefined ? undefined : { custom: false, struct };
}

export function nodeOf(kind: KindSchema): ObjectNode {
  return kind.custom ? nodeOfCustom(kind.schema) : nodeOfStruct(kind.struct);
}

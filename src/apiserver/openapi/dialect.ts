import type { JsonObject } from '../../machinery/values/index.ts';

/** OpenAPI 2 (Swagger) or 3: they differ in where definitions live and what may stand beside a reference. */
export type Dialect = 'v2' | 'v3';

export function refTo(name: string, dialect: Dialect): JsonObject {
  return { $ref: `#/${dialect === 'v2' ? 'definitions' : 'components/schemas'}/${name}` };
}

/** A reference with more to say about this use of it; version 3 ignores what stands beside a bare reference. */
export function refWith(name: string, extra: JsonObject, dialect: Dialect): JsonObject {
  const ref = refTo(name, dialect);
  if (Object.keys(extra).length === 0) return ref;
  return dialect === 'v2' ? { ...extra, ...ref } : { ...extra, allOf: [ref] };
}

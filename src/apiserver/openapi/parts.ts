import type { Schema } from '../../api/schema/index.ts';
import type { JsonObject } from '../../machinery/values/index.ts';
import type { ResourceRow, VersionRow } from '../registry/row.ts';
import { customDefinition, customListDefinition, customName } from './custom-definitions.ts';
import { BuiltinDefinitions } from './definitions.ts';
import type { Dialect } from './dialect.ts';
import type { KindRef } from './operations.ts';
import { pathsOf } from './paths.ts';

/** What one version of a resource adds to a document. */
export interface Part {
  readonly paths: JsonObject;
  readonly definitions: ReadonlyMap<string, JsonObject>;
}

const ALWAYS = [
  'meta/v1.DeleteOptions',
  'meta/v1.Status',
  'meta/v1.ObjectMeta',
  'meta/v1.ListMeta',
  'meta/v1.WatchEvent',
];
const PATCH_NAME = 'io.k8s.apimachinery.pkg.apis.meta.v1.Patch';
const PATCH_DEFINITION: JsonObject = { description: 'A patch; the content type says of which kind.', type: 'object' };

/** Builds the parts of documents; what rows have in common is built once. */
export class Parts {
  readonly #schema: Schema;
  readonly #builtin: BuiltinDefinitions;
  readonly #parts = new WeakMap<ResourceRow, Map<string, Part>>();

  constructor(schema: Schema) {
    this.#schema = schema;
    this.#builtin = new BuiltinDefinitions(schema);
  }

  /** What every document holds. */
  common(dialect: Dialect): ReadonlyMap<string, JsonObject> {
    const definitions = new Map<string, JsonObject>([[PATCH_NAME, PATCH_DEFINITION]]);
    for (const id of ALWAYS) this.#addReachable(definitions, id, dialect);
    return definitions;
  }

  part(row: ResourceRow, version: VersionRow, dialect: Dialect): Part {
    const known = this.#parts.get(row) ?? new Map<string, Part>();
    this.#parts.set(row, known);
    // Subresources may join a row later, so they are part of the key.
    const key = `${dialect} ${version.name} ${[...row.subresources.keys()].join(',')}`;
    let part = known.get(key);
    if (part === undefined) {
      part = this.#build(row, version.name, dialect);
      known.set(key, part);
    }
    return part;
  }

  #build(row: ResourceRow, version: string, dialect: Dialect): Part {
    const definitions = new Map<string, JsonObject>();
    const nameKind = (kind: KindRef): string => {
      const struct = this.#schema.kind(kind);
      if (struct !== undefined) {
        this.#addReachable(definitions, struct.id, dialect);
        return struct.openapiName;
      }
      const name = customName(kind.group, kind.version, kind.kind);
      if (!definitions.has(name)) definitions.set(name, this.#customDefinition(row, kind, dialect));
      return name;
    };
    return { paths: pathsOf(row, version, nameKind, dialect), definitions };
  }

  #customDefinition(row: ResourceRow, kind: KindRef, dialect: Dialect): JsonObject {
    const own = { group: row.group, version: kind.version, kind: row.kind, listKind: row.listKind };
    if (kind.kind === row.listKind) return customListDefinition(own, dialect);
    const schema = kind.kind === row.kind ? row.schemaFor?.(kind.version) : undefined;
    return customDefinition({ ...own, group: kind.group, kind: kind.kind }, schema, dialect);
  }

  #addReachable(definitions: Map<string, JsonObject>, id: string, dialect: Dialect): void {
    for (const reached of this.#builtin.reachable(id)) {
      definitions.set(this.#builtin.nameOf(reached), this.#builtin.definition(reached, dialect));
    }
  }
}

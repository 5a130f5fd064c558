import type { Schema } from '../../api/schema/index.ts';
import type { JsonObject } from '../../machinery/values/index.ts';
import type { Resource, ServedVersion } from '../registry/resource.ts';
import { customDefinition, customListDefinition, customName } from './custom-definitions.ts';
import { BuiltinDefinitions } from './definitions.ts';
import type { Dialect } from './dialect.ts';
import type { KindRef } from './operations.ts';
import { pathsOf } from './paths.ts';

/** What one version of a resource adds to a document. */
export interface DocumentPart {
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

/** Builds the parts of documents; what resources have in common is built once. */
export class Parts {
  readonly #schema: Schema;
  readonly #builtin: BuiltinDefinitions;
  readonly #parts = new WeakMap<Resource, Map<string, DocumentPart>>();

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

  part(resource: Resource, version: ServedVersion, dialect: Dialect): DocumentPart {
    const known = this.#parts.get(resource) ?? new Map<string, DocumentPart>();
    this.#parts.set(resource, known);
    // Subresources may join a resource later, so they are part of the key.
    const key = `${dialect} ${version.name} ${[...resource.subresources.keys()].join(',')}`;
    let part = known.get(key);
    if (part === undefined) {
      part = this.#build(resource, version.name, dialect);
      known.set(key, part);
    }
    return part;
  }

  #build(resource: Resource, version: string, dialect: Dialect): DocumentPart {
    const definitions = new Map<string, JsonObject>();
    const nameKind = (kind: KindRef): string => {
      const struct = this.#schema.kind(kind);
      if (struct !== undefined) {
        this.#addReachable(definitions, struct.id, dialect);
        return struct.openapiName;
      }
      const name = customName(kind.group, kind.version, kind.kind);
      if (!definitions.has(name)) definitions.set(name, this.#customDefinition(resource, kind, dialect));
      return name;
    };
    return { paths: pathsOf(resource, version, nameKind, dialect), definitions };
  }

  #customDefinition(resource: Resource, kind: KindRef, dialect: Dialect): JsonObject {
    const own = { group: resource.group, version: kind.version, kind: resource.kind, listKind: resource.listKind };
    if (kind.kind === resource.listKind) return customListDefinition(own, dialect);
    const schema = kind.kind === resource.kind ? resource.schemaFor?.(kind.version) : undefined;
    return customDefinition({ ...own, group: kind.group, kind: kind.kind }, schema, dialect);
  }

  #addReachable(definitions: Map<string, JsonObject>, id: string, dialect: Dialect): void {
    for (const reached of this.#builtin.reachable(id)) {
      definitions.set(this.#builtin.nameOf(reached), this.#builtin.definition(reached, dialect));
    }
  }
}

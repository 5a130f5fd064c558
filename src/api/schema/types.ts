/** Values with a wire form of their own; every other reference is a list, a map or a struct. */
export type ScalarName =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'float64'
  | 'bytes'
  | 'time'
  | 'microtime'
  | 'duration'
  | 'quantity'
  | 'intOrString'
  | 'rawExtension'
  | 'fieldsV1'
  | 'json'
  | 'schemaOrBool'
  | 'schemaOrArray'
  | 'schemaOrStringArray';

export type TypeRef =
  | { readonly kind: 'scalar'; readonly scalar: ScalarName }
  | {
      readonly kind: 'list';
      readonly element: TypeRef;
      /** In protobuf the list is a message of its own with the items in field 1. */
      readonly wrapped: boolean;
    }
  | { readonly kind: 'map'; readonly value: TypeRef }
  | { readonly kind: 'struct'; readonly id: string; readonly struct: () => StructSchema };

export interface FieldSchema {
  /** JSON name; empty for a struct whose fields appear directly in the parent's JSON. */
  readonly name: string;
  readonly type: TypeRef;
  /** Protobuf field number; 0 when the field exists in JSON only. */
  readonly number: number;
  /** Presence matters: a zero value that was sent stays. */
  readonly pointer: boolean;
  readonly omitEmpty: boolean;
  readonly required: boolean;
  readonly inline: boolean;
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly listMapKeys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  readonly enum?: readonly string[];
  readonly default?: unknown;
}

export interface StructSchema {
  /** `core/v1.Pod`: package and Go name. */
  readonly id: string;
  /** `io.k8s.api.core.v1.Pod`: the name of the OpenAPI definition. */
  readonly openapiName: string;
  /** Carries `apiVersion` and `kind`, which protobuf keeps in its envelope. */
  readonly hasTypeMeta: boolean;
  readonly atomic: boolean;
  /** As declared, inline structs included. */
  readonly fields: readonly FieldSchema[];
  /** By JSON name, inline structs flattened, `apiVersion` and `kind` included. */
  readonly properties: ReadonlyMap<string, FieldSchema>;
  /** By protobuf number. */
  readonly numbers: ReadonlyMap<number, FieldSchema>;
}

export interface KindName {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface Schema {
  /** The struct of a kind; option kinds such as DeleteOptions are known in every group-version. */
  kind(name: KindName): StructSchema | undefined;
  struct(id: string): StructSchema;
  /** The field reached by JSON names; list and map steps are skipped: `['spec', 'containers', 'image']`. */
  fieldAt(name: KindName, path: readonly string[]): FieldSchema | undefined;
  kinds(): readonly KindName[];
  structIds(): readonly string[];
}

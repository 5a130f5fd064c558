import type { FieldSchema, ScalarName, Schema, StructSchema, TypeRef } from './types.ts';

/**
 * How merges see a value: by what its parts are called and how far they may be owned apart. Built-in structs and
 * the structural schemas of custom resources both turn into nodes, so patches and apply have one code path.
 */
export type SchemaNode = ObjectNode | ListNode | ScalarNode | AnyNode;

export interface ObjectNode {
  readonly kind: 'object';
  /** Structs know their fields; maps accept any key. */
  readonly isMap: boolean;
  /** Owned and replaced as a whole by server-side apply. */
  readonly atomic: boolean;
  /** Strategic merge replaces the value instead of merging into it. */
  readonly replace: boolean;
  /** The node of a member; undefined means the schema does not know it. */
  property(name: string): SchemaNode | undefined;
  /** The value a member has when absent, where the schema says so. */
  defaultOf(name: string): unknown;
  /** The member exists with its zero value even when JSON leaves it out, so nobody can add or remove it. */
  alwaysPresent(name: string): boolean;
}

export interface ListNode {
  readonly kind: 'list';
  readonly listType: 'atomic' | 'set' | 'map';
  /** Sorted. */
  readonly keys: readonly string[];
  readonly element: SchemaNode;
  readonly patchStrategy: string | undefined;
  readonly patchMergeKey: string | undefined;
}

export interface ScalarNode {
  readonly kind: 'scalar';
  /** What the value must be; `untyped` accepts any scalar. */
  readonly type: 'string' | 'number' | 'boolean' | 'untyped';
}

/**
 * A value the schema says nothing about. Deduced: maps are owned per key, lists and scalars whole.
 * Otherwise the whole value is one unit.
 */
export interface AnyNode {
  readonly kind: 'any';
  readonly deduced: boolean;
}

export const deducedNode: AnyNode = { kind: 'any', deduced: true };
export const atomicNode: AnyNode = { kind: 'any', deduced: false };
const untypedScalar: ScalarNode = { kind: 'scalar', type: 'untyped' };
const stringScalar: ScalarNode = { kind: 'scalar', type: 'string' };
const numberScalar: ScalarNode = { kind: 'scalar', type: 'number' };
const booleanScalar: ScalarNode = { kind: 'scalar', type: 'boolean' };

/** Any JSON object whose members follow the same rule. */
export const freeFormNode: ObjectNode = {
  kind: 'object',
  isMap: true,
  atomic: false,
  replace: false,
  property: () => deducedNode,
  defaultOf: () => undefined,
  alwaysPresent: () => false,
};

const SCALARS: Record<ScalarName, SchemaNode> = {
  string: stringScalar,
  bytes: stringScalar,
  bool: booleanScalar,
  int32: numberScalar,
  int64: numberScalar,
  float64: numberScalar,
  time: untypedScalar,
  microtime: untypedScalar,
  duration: stringScalar,
  quantity: untypedScalar,
  intOrString: untypedScalar,
  rawExtension: atomicNode,
  fieldsV1: freeFormNode,
  json: atomicNode,
  schemaOrBool: atomicNode,
  schemaOrArray: atomicNode,
  schemaOrStringArray: atomicNode,
};

const structNodes = new WeakMap<StructSchema, ObjectNode>();
const fieldNodes = new WeakMap<FieldSchema, SchemaNode>();

export function nodeOfStruct(struct: StructSchema): ObjectNode {
  let node = structNodes.get(struct);
  if (node === undefined) {
    node = structNode(struct, {});
    structNodes.set(struct, node);
  }
  return node;
}

/** The node of a kind by name, or undefined for kinds that are not built in. */
export function nodeOfKind(
  schema: Schema,
  name: { group: string; version: string; kind: string },
): ObjectNode | undefined {
  const struct = schema.kind(name);
  return struct === undefined ? undefined : nodeOfStruct(struct);
}

function structNode(struct: StructSchema, { mapType, patchStrategy }: Partial<FieldSchema>): ObjectNode {
  return {
    kind: 'object',
    isMap: false,
    atomic: mapType === undefined ? struct.atomic : mapType === 'atomic',
    replace: patchStrategy === 'replace',
    property: (name) => {
      const field = struct.properties.get(name);
      return field === undefined ? undefined : nodeOfField(field);
    },
    defaultOf: (name) => {
      const field = struct.properties.get(name);
      return field === undefined ? undefined : (field.default ?? zeroOf(field));
    },
    alwaysPresent: (name) => {
      const field = struct.properties.get(name);
      return field !== undefined && !field.pointer && (field.type.kind === 'struct' || !field.omitEmpty);
    },
  };
}

function nodeOfField(field: FieldSchema): SchemaNode {
  let node = fieldNodes.get(field);
  if (node === undefined) {
    node = buildNode(field.type, field);
    fieldNodes.set(field, node);
  }
  return node;
}

function buildNode(type: TypeRef, field: Partial<FieldSchema>): SchemaNode {
  switch (type.kind) {
    case 'scalar':
      return SCALARS[type.scalar];
    case 'struct':
      return field.mapType === undefined && field.patchStrategy === undefined
        ? nodeOfStruct(type.struct())
        : structNode(type.struct(), field);
    case 'map': {
      const value = buildNode(type.value, {});
      return {
        kind: 'object',
        isMap: true,
        atomic: field.mapType === 'atomic',
        replace: field.patchStrategy === 'replace',
        property: () => value,
        defaultOf: () => undefined,
        alwaysPresent: () => false,
      };
    }
    case 'list':
      return listNode(buildNode(type.element, {}), field);
  }
}

/** Without a list type, a strategic merge list is associative by its merge key, any other list atomic. */
function listNode(element: SchemaNode, field: Partial<FieldSchema>): ListNode {
  const { patchStrategy, patchMergeKey } = field;
  const merges = patchStrategy?.split(',').includes('merge') ?? false;
  const listType = field.listType ?? (!merges ? 'atomic' : patchMergeKey === undefined ? 'set' : 'map');
  const keys = field.listMapKeys ?? (patchMergeKey === undefined ? [] : [patchMergeKey]);
  return {
    kind: 'list',
    listType,
    keys: listType === 'map' ? keys.toSorted() : [],
    element,
    patchStrategy,
    patchMergeKey,
  };
}

/** What Kubernetes' schema has as the default of a text or number that is always written: the zero value of Go. */
function zeroOf({ omitEmpty, pointer, type }: FieldSchema): unknown {
  if (pointer || omitEmpty || type.kind !== 'scalar') return undefined;
  if (type.scalar === 'string') return '';
  return type.scalar === 'int32' || type.scalar === 'int64' ? 0 : undefined;
}

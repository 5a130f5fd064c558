import {
  atomicNode,
  deducedNode,
  freeFormNode,
  loadSchema,
  type ListNode,
  nodeOfStruct,
  type ObjectNode,
  type ScalarNode,
  type SchemaNode,
} from '../../../api/schema/index.ts';
import {
  additionalOf,
  EMBEDDED,
  INT_OR_STRING,
  itemsOf,
  LIST_KEYS,
  LIST_TYPE,
  MAP_TYPE,
  PRESERVE,
  propertyOf,
  type StructuralSchema,
} from './schema.ts';

const scalarNode = (type: ScalarNode['type']): ScalarNode => ({ kind: 'scalar', type });
const TEXT = scalarNode('string');

const cache = new WeakMap<StructuralSchema, ObjectNode>();

/** How patches see a custom resource. Without a schema everything but metadata is deduced from the values. */
export function nodeOfCustom(schema: StructuralSchema | undefined): ObjectNode {
  if (schema === undefined) return withObjectMeta(freeFormNode);
  let node = cache.get(schema);
  if (node === undefined) {
    node = withObjectMeta(objectNode(schema, schema[PRESERVE] === true));
    cache.set(schema, node);
  }
  return node;
}

function withObjectMeta(inner: ObjectNode): ObjectNode {
  const metadata = nodeOfStruct(loadSchema().struct('meta/v1.ObjectMeta'));
  return {
    ...inner,
    isMap: false,
    property: (name) => {
      if (name === 'metadata') return metadata;
      return name === 'apiVersion' || name === 'kind' ? TEXT : inner.property(name);
    },
  };
}

/** Preserving unknown fields is passed on to everything below. */
function buildNode(schema: StructuralSchema, preserve: boolean): SchemaNode {
  const keeps = preserve || schema[PRESERVE] === true;
  if (schema[INT_OR_STRING] === true) return scalarNode('untyped');
  switch (schema.type) {
    case 'object': {
      const node = objectNode(schema, keeps);
      return schema[EMBEDDED] === true ? withObjectMeta(node) : node;
    }
    case 'array':
      return listNode(schema, keeps);
    case 'string':
      return schema.format === undefined || schema.format === 'byte' ? TEXT : scalarNode('untyped');
    case 'integer':
    case 'number':
      return scalarNode('number');
    case 'boolean':
      return scalarNode('boolean');
    default:
      return keeps ? deducedNode : atomicNode;
  }
}

function objectNode(schema: StructuralSchema, preserve: boolean): ObjectNode {
  const members = new Map<StructuralSchema, SchemaNode>();
  const nodeOf = (member: StructuralSchema): SchemaNode => {
    let node = members.get(member);
    if (node === undefined) {
      node = buildNode(member, preserve);
      members.set(member, node);
    }
    return node;
  };
  const additional = additionalOf(schema);
  const freeForm = preserve || additional === true || Object.keys(schema.properties ?? {}).length === 0;
  return {
    kind: 'object',
    isMap: schema.properties === undefined,
    atomic: schema[MAP_TYPE] === 'atomic',
    replace: false,
    property: (name) => {
      const own = propertyOf(schema, name);
      if (own !== undefined) return nodeOf(own);
      if (additional !== undefined && additional !== true) return nodeOf(additional);
      return freeForm ? deducedNode : undefined;
    },
    defaultOf: (name) => propertyOf(schema, name)?.default,
    alwaysPresent: () => false,
  };
}

function listNode(schema: StructuralSchema, preserve: boolean): ListNode {
  const items = itemsOf(schema);
  const listType = schema[LIST_TYPE] === 'map' || schema[LIST_TYPE] === 'set' ? schema[LIST_TYPE] : 'atomic';
  return {
    kind: 'list',
    listType,
    keys: listType === 'map' ? (schema[LIST_KEYS] ?? []).toSorted() : [],
    element: items === undefined ? atomicNode : buildNode(items, preserve),
    patchStrategy: undefined,
    patchMergeKey: undefined,
  };
}

/** What lint knows of kinds and their fields: the built-in schema, and the definitions of kinds that Quorate brings. */
import { OWN_KINDS } from '../../api/crds/index.ts';
import type { JSONSchemaProps } from '../../api/generated/apiextensions-v1.ts';
import { loadSchema, type Schema, type StructSchema, type TypeRef } from '../../api/schema/index.ts';
import type { FieldTree, KnownApi } from '../../decisions/lint/index.ts';

const ANY: FieldTree = { kind: 'any' };

export function knownApi(): KnownApi {
  const schema = loadSchema();
  const custom = customKinds(schema);
  return {
    kindsOf(group, version) {
      const kinds = schema.kinds().filter((one) => one.group === group && one.version === version);
      return kinds.length === 0 ? undefined : kinds.map(({ kind }) => kind);
    },
    fieldsOf(group, version, kind) {
      const struct = schema.kind({ group, version, kind });
      return struct === undefined ? custom.get(`${group}/${version}/${kind}`) : treeOfStruct(struct);
    },
  };
}

const structs = new WeakMap<StructSchema, FieldTree>();

function treeOfStruct(struct: StructSchema): FieldTree {
  let tree = structs.get(struct);
  if (tree === undefined) {
    const fields = [...struct.properties].map(([name, { type }]) => [name, () => treeOfType(type)] as const);
    tree = { kind: 'struct', fields: new Map(fields) };
    structs.set(struct, tree);
  }
  return tree;
}

function treeOfType(type: TypeRef): FieldTree {
  switch (type.kind) {
    case 'scalar':
      return ANY;
    case 'struct':
      return treeOfStruct(type.struct());
    case 'list':
      return { kind: 'list', of: treeOfType(type.element) };
    case 'map':
      return { kind: 'map', of: treeOfType(type.value) };
  }
}

function customKinds(schema: Schema): Map<string, FieldTree> {
  const configMap = schema.kind({ group: '', version: 'v1', kind: 'ConfigMap' });
  const metadata = configMap === undefined ? undefined : treeOfStruct(configMap);
  const meta = metadata?.kind === 'struct' ? metadata.fields.get('metadata') : undefined;
  const known = new Map<string, FieldTree>();
  for (const {
    definition: { spec },
  } of OWN_KINDS) {
    for (const { name, schema: given } of spec?.versions ?? []) {
      const tree = treeOfProps(given?.openAPIV3Schema ?? {});
      if (tree.kind !== 'struct') continue;
      const fields = new Map([
        ...tree.fields,
        ['apiVersion', () => ANY],
        ['kind', () => ANY],
        ['metadata', meta ?? (() => ANY)],
      ]);
      known.set(`${spec?.group}/${name}/${spec?.names.kind}`, { kind: 'struct', fields });
    }
  }
  return known;
}

function treeOfProps(props: JSONSchemaProps): FieldTree {
  const { additionalProperties, items, properties } = props;
  if (props['x-kubernetes-preserve-unknown-fields'] === true) return ANY;
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([name, below]) => [name, () => treeOfProps(below)] as const);
    return { kind: 'struct', fields: new Map(fields) };
  }
  if (typeof additionalProperties === 'object')
    return { kind: 'map', of: treeOfProps(additionalProperties as JSONSchemaProps) };
  return typeof items === 'object' && !Array.isArray(items)
    ? { kind: 'list', of: treeOfProps(items as JSONSchemaProps) }
    : ANY;
}

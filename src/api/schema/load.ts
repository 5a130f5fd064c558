import { readFileSync } from 'node:fs';
import type { FieldSchema, KindName, ScalarName, Schema, StructSchema, TypeRef } from './types.ts';

interface FieldExtras {
  ps?: string;
  mk?: string;
  lt?: 'atomic' | 'set' | 'map';
  lk?: string[];
  mt?: 'atomic' | 'granular';
  en?: string[];
  df?: unknown;
}

type FieldRow = [name: string, ref: string, number: number, flags: string, extras?: FieldExtras];
type TypeRow = [flags: string, ...fields: FieldRow[]];

/** The data file as scripts/schema writes it. */
interface SchemaData {
  packages: Record<string, [group: string, version: string, openapiPrefix: string]>;
  optionKinds: string[];
  kinds: Record<string, string>;
  types: Record<string, TypeRow>;
}

let loaded: Schema | undefined;

/** The schema of built-in kinds. Read once; each type is built when first asked for. */
export function loadSchema(): Schema {
  loaded ??= new DataSchema(
    JSON.parse(readFileSync(new URL('./data/kubernetes.json', import.meta.url), 'utf8')) as SchemaData,
  );
  return loaded;
}

class DataSchema implements Schema {
  readonly #data: SchemaData;
  readonly #structs = new Map<string, StructSchema>();
  readonly #refs = new Map<string, TypeRef>();
  readonly #optionKinds: ReadonlySet<string>;

  constructor(data: SchemaData) {
    this.#data = data;
    this.#optionKinds = new Set(data.optionKinds);
  }

  kind({ group, version, kind }: KindName): StructSchema | undefined {
    const key = group === '' ? `${version}/${kind}` : `${group}/${version}/${kind}`;
    const id = Object.hasOwn(this.#data.kinds, key) ? this.#data.kinds[key] : undefined;
    if (id !== undefined) return this.struct(id);
    return this.#optionKinds.has(kind) ? this.struct(`meta/v1.${kind}`) : undefined;
  }

  struct(id: string): StructSchema {
    let struct = this.#structs.get(id);
    if (struct === undefined) {
      const row = Object.hasOwn(this.#data.types, id) ? this.#data.types[id] : undefined;
      if (row === undefined) throw new Error(`Cannot read the schema of "${id}": no such type`);
      struct = this.#build(id, row);
      this.#structs.set(id, struct);
    }
    return struct;
  }

  fieldAt(name: KindName, path: readonly string[]): FieldSchema | undefined {
    let struct = this.kind(name);
    let field: FieldSchema | undefined;
    for (const step of path) {
      field = struct?.properties.get(step);
      if (field === undefined) return undefined;
      struct = structBelow(field.type);
    }
    return field;
  }

  kinds(): readonly KindName[] {
    return Object.keys(this.#data.kinds).map((key) => {
      const parts = key.split('/');
      const [kind, version, group] = [parts.pop() as string, parts.pop() as string, parts.pop() ?? ''];
      return { group, version, kind };
    });
  }

  structIds(): readonly string[] {
    return Object.keys(this.#data.types);
  }

  #build(id: string, [flags, ...rows]: TypeRow): StructSchema {
    const dot = id.indexOf('.');
    const prefix = this.#data.packages[id.slice(0, dot)]?.[2] ?? '';
    const fields = rows.map((row) => this.#field(row));
    const properties = new Map<string, FieldSchema>();
    if (flags.includes('t')) {
      properties.set('apiVersion', this.#field(['apiVersion', 'string', 0, 'o']));
      properties.set('kind', this.#field(['kind', 'string', 0, 'o']));
    }
    for (const field of fields) {
      if (!field.inline) properties.set(field.name, field);
      else for (const [name, inner] of structBelow(field.type)?.properties ?? []) properties.set(name, inner);
    }
    return {
      id,
      openapiName: `${prefix}.${id.slice(dot + 1)}`,
      hasTypeMeta: flags.includes('t'),
      atomic: flags.includes('a'),
      fields,
      properties,
      numbers: new Map(fields.filter(({ number }) => number > 0).map((field) => [field.number, field])),
    };
  }

  #field([name, ref, number, flags, extras = {}]: FieldRow): FieldSchema {
    return {
      name,
      type: this.#ref(ref),
      number,
      pointer: flags.includes('p'),
      omitEmpty: flags.includes('o'),
      required: flags.includes('r'),
      inline: flags.includes('i'),
      ...(extras.ps !== undefined && { patchStrategy: extras.ps }),
      ...(extras.mk !== undefined && { patchMergeKey: extras.mk }),
      ...(extras.lt !== undefined && { listType: extras.lt }),
      ...(extras.lk !== undefined && { listMapKeys: extras.lk }),
      ...(extras.mt !== undefined && { mapType: extras.mt }),
      ...(extras.en !== undefined && { enum: extras.en }),
      ...('df' in extras && { default: extras.df }),
    };
  }

  #ref(text: string): TypeRef {
    let ref = this.#refs.get(text);
    if (ref === undefined) {
      ref = this.#parseRef(text);
      this.#refs.set(text, ref);
    }
    return ref;
  }

  #parseRef(text: string): TypeRef {
    if (text.startsWith('[]')) return { kind: 'list', element: this.#ref(text.slice(2)), wrapped: false };
    if (text.startsWith('<>')) return { kind: 'list', element: this.#ref(text.slice(2)), wrapped: true };
    if (text.startsWith('{}')) return { kind: 'map', value: this.#ref(text.slice(2)) };
    if (text.includes('.')) return { kind: 'struct', id: text, struct: () => this.struct(text) };
    return { kind: 'scalar', scalar: text as ScalarName };
  }
}

function structBelow(type: TypeRef): StructSchema | undefined {
  switch (type.kind) {
    case 'struct':
      return type.struct();
    case 'list':
      return structBelow(type.element);
    case 'map':
      return structBelow(type.value);
    default:
      return undefined;
  }
}

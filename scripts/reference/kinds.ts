import { OWN_KINDS, type OwnKind } from '../../src/api/crds/index.ts';
import type { CustomResourceDefinition, JSONSchemaProps } from '../../src/api/generated/apiextensions-v1.ts';

type Version = NonNullable<CustomResourceDefinition['spec']>['versions'][number];

/** Kinds that the package defines itself, by name. */
function ownKinds(): OwnKind[] {
  return [...OWN_KINDS].sort((a, b) =>
    (a.definition.metadata.name ?? '') < (b.definition.metadata.name ?? '') ? -1 : 1,
  );
}

export function renderKinds(): string {
  const lines = [
    '# Kinds',
    '',
    'The kinds that come with Quorate and not with Kubernetes, with every field. `quorate up` serves them from the start;',
    'on a cluster they are CustomResourceDefinitions. `kubectl explain` says the same. PodDisruptionBudget, Workload and',
    'PodGroup are kinds of Kubernetes and documented there; what Quorate adds to them is in [annotations](annotations.md)',
    'and [concepts](../concepts/group-budgets.md).',
  ];
  for (const { definition, embedded, installed } of ownKinds()) {
    const { spec } = definition;
    if (spec === undefined) continue;
    lines.push('', `## ${spec.names.kind} (${spec.group})`);
    const names = [spec.names.plural, ...(spec.names.shortNames ?? [])].map((name) => `\`${name}\``).join(', ');
    const where = installed ? 'comes with `quorate install`' : 'comes with the software that works with it';
    const there = embedded ? '' : ' `quorate up` does not serve it.';
    lines.push('', `${spec.scope}. Names for kubectl: ${names}. On a cluster it ${where}.${there}`);
    for (const version of spec.versions) lines.push(...renderVersion(spec.group, version));
  }
  return `${lines.join('\n')}\n`;
}

function renderVersion(group: string, { name, schema, storage, subresources }: Version): string[] {
  const root = schema?.openAPIV3Schema;
  const parts = [storage ? 'stored' : 'served', ...(subresources?.scale ? ['with `/scale`'] : [])].join(', ');
  const rows = ['spec', 'status'].flatMap((part) => {
    const found = root?.properties?.[part];
    return found === undefined ? [] : fieldRows(part, found);
  });
  return [
    '',
    `### \`${group}/${name}\` (${parts})`,
    '',
    ...(root?.description === undefined ? [] : [root.description, '']),
    '| field | type | meaning |',
    '|---|---|---|',
    ...rows,
  ];
}

function fieldRows(path: string, schema: JSONSchemaProps): string[] {
  const rows = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const at = `${path}.${name}`;
    const required = schema.required?.includes(name) ? ' Required.' : '';
    const fallback = child.default === undefined ? '' : ` Default: \`${JSON.stringify(child.default)}\`.`;
    const row = `| \`${at}\` | ${typeOf(child)} | ${cell(`${child.description ?? ''}${required}${fallback}`)} |`;
    return [row, ...fieldRows(child.type === 'array' ? `${at}[]` : at, nestedIn(child))];
  });
  // Selectors and conditions are the same everywhere, and every reader of Kubernetes knows them.
  return path.endsWith('elector') || path.endsWith('conditions[]') ? [] : rows;
}

function nestedIn(schema: JSONSchemaProps): JSONSchemaProps {
  return schema.type === 'array' ? ((schema.items as JSONSchemaProps | undefined) ?? {}) : schema;
}

function typeOf(schema: JSONSchemaProps): string {
  if (schema['x-kubernetes-int-or-string']) return 'int or text';
  if (schema.type === 'array') return `list of ${typeOf(nestedIn(schema))}`;
  if (schema.format === 'date-time') return 'time';
  if (schema.additionalProperties !== undefined) return 'map';
  const values = schema.enum === undefined ? '' : `: ${schema.enum.map((value) => `\`${String(value)}\``).join(', ')}`;
  return `${schema.format ?? schema.type ?? 'any'}${values}`;
}

const cell = (text: string): string => text.trim().replaceAll('|', '\\|').replaceAll('\n', ' ');

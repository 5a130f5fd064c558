/** Label and field selectors of a list, watch or deletecollection, compiled once per request. */
import {
  everything,
  type FieldRequirement,
  matches,
  matchesFields,
  parseFieldSelector,
  parseSelector,
  type Selector,
} from '../../machinery/values/index.ts';
import type { StoredEntry } from '../../storage/index.ts';
import type { Resource } from '../registry/resource.ts';
import { badRequest } from '../exchange/status.ts';
import type { ObjectCache } from '../stored/object-cache.ts';

export interface Selection {
  /** No selector was given. */
  readonly all: boolean;
  /** Set when the selection is one object by name. */
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  matches(entry: StoredEntry): boolean;
}

const EVERYTHING: Selection = { all: true, name: undefined, namespace: undefined, matches: () => true };

/** What the selectors of a request say; whether a kind has such fields is asked when the selection is made of it. */
export interface ParsedSelectors {
  readonly labels: Selector;
  readonly fields: readonly FieldRequirement[];
}

/** Selectors that cannot be read are refused before the other options of a list are looked at, as kube-apiserver does. */
export function parseSelectors(query: URLSearchParams): ParsedSelectors {
  return {
    labels: parseLabels(query.get('labelSelector') ?? ''),
    fields: parseFields(query.get('fieldSelector') ?? ''),
  };
}

export function selectionOf(
  parsed: ParsedSelectors,
  { resource, objects, pathName }: { resource: Resource; objects: ObjectCache; pathName?: string | undefined },
): Selection {
  const { labels } = parsed;
  const fields = knownFields(resource, parsed.fields);
  if (pathName !== undefined) fields.push({ field: 'metadata.name', operator: '=', value: pathName });
  if (labels.requirements.length === 0 && fields.length === 0) return EVERYTHING;
  const byMetadata = fields.filter(({ field }) => field.startsWith('metadata.'));
  const byKind = fields.filter(({ field }) => !field.startsWith('metadata.'));
  return {
    all: false,
    name: wanted(byMetadata, 'metadata.name'),
    namespace: wanted(byMetadata, 'metadata.namespace'),
    matches(entry) {
      if (byMetadata.length > 0 && !matchesFields(byMetadata, (field) => metadataField(resource, entry.key, field)))
        return false;
      if (labels.requirements.length === 0 && byKind.length === 0) return true;
      const digest = objects.digest(resource, entry);
      return matches(labels, digest.labels) && matchesFields(byKind, (field) => digest.fields[field]);
    },
  };
}

function wanted(fields: readonly FieldRequirement[], name: string): string | undefined {
  return fields.find(({ field, operator }) => field === name && operator === '=')?.value;
}

/** Name and namespace are in the key, so these need no decoding. */
function metadataField(resource: Resource, key: string, field: string): string {
  const rest = key.slice(resource.prefix.length);
  if (!resource.namespaced) return field === 'metadata.name' ? rest : '';
  const slash = rest.indexOf('/');
  return field === 'metadata.name' ? rest.slice(slash + 1) : rest.slice(0, slash);
}

function parseLabels(text: string): Selector {
  if (text === '') return everything;
  try {
    return parseSelector(text);
  } catch (error) {
    throw badRequest(`unable to parse requirement: ${(error as Error).message}`);
  }
}

function parseFields(text: string): FieldRequirement[] {
  if (text === '') return [];
  try {
    return parseFieldSelector(text);
  } catch (error) {
    throw badRequest((error as Error).message);
  }
}

/** The fields by the names that the kind knows them by. */
function knownFields(resource: Resource, requirements: readonly FieldRequirement[]): FieldRequirement[] {
  if (requirements.length === 0) return [];
  const known = resource.strategy.fields?.({ metadata: {} }) ?? {};
  // Kinds of the cluster have the field as well, empty, unless they have a list of fields of their own.
  const knowsNamespace = resource.namespaced || (resource.strategy.fields === undefined && !resource.custom);
  return requirements.map((requirement) => {
    const field = resource.strategy.fieldAliases?.[requirement.field] ?? requirement.field;
    const isMetadata = field === 'metadata.name' || (field === 'metadata.namespace' && knowsNamespace);
    if (!isMetadata && !Object.hasOwn(known, field)) {
      throw badRequest(`field label not supported: ${requirement.field}`);
    }
    return { ...requirement, field };
  });
}

/** Server-side printing: the rows kubectl shows. */
import type { ApiObject } from '../exchange/object.ts';
import type { ServerContext } from '../context/server-context.ts';
import { ageColumn, nameColumn, table } from '../registry/columns.ts';
import { objectKey, type Resource, type ServedVersion } from '../registry/resource.ts';
import type { Column, FindStored, TableLayout } from '../registry/strategy.ts';
import { badRequest } from '../exchange/status.ts';
import { partialMetadata } from './partial.ts';

export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface TableOptions {
  readonly layout: TableLayout;
  /** The same objects as they are stored: strategies read cells from these, whatever version is shown. */
  readonly stored?: readonly ApiObject[] | undefined;
  readonly find: FindStored;
  readonly now: number;
  readonly include: IncludeObject;
  readonly apiVersion: string;
  readonly metadata: { resourceVersion?: string; continue?: string; remainingItemCount?: number };
  /** A later event of a watch: the columns have been sent already. */
  readonly withoutColumns?: boolean;
}

/** What kinds without columns of their own show. */
const plainLayout: TableLayout = table([nameColumn, ageColumn]);

export function tableLayoutOf(resource: Resource, version: ServedVersion): TableLayout {
  return version.table ?? resource.strategy.table ?? plainLayout;
}

/** The layout of a version reads that version; the strategy's reads what is stored. */
export function tableSource(resource: Resource, version: ServedVersion, stored: readonly ApiObject[]) {
  return version.table === undefined && resource.stored.group === resource.group ? stored : undefined;
}

export function includeObjectOption(query: URLSearchParams): IncludeObject {
  const text = query.get('includeObject') ?? 'Metadata';
  if (text === '' || text === 'Metadata') return 'Metadata';
  if (text === 'None' || text === 'Object') return text;
  throw badRequest(`unrecognized includeObject value: "${text}"`);
}

/** Reads what a row tells of an object that is stored elsewhere. */
export function findStored({
  objects,
  registry,
  store,
}: Pick<ServerContext, 'objects' | 'registry' | 'store'>): FindStored {
  return (group, plural, { name, namespace }) => {
    const resource = registry.byPlural(group, plural);
    const entry = resource && store.get(objectKey(resource, namespace, name));
    return entry && objects.readWithoutManagedFields(entry);
  };
}

export function tableOf(objects: readonly ApiObject[], options: TableOptions): object {
  const { layout, now, include, apiVersion, metadata } = options;
  const version = apiVersion.endsWith('v1beta1') ? 'v1beta1' : 'v1';
  return {
    kind: 'Table',
    apiVersion,
    metadata,
    columnDefinitions: options.withoutColumns ? null : layout.columns.map(columnDefinition),
    rows: objects.map((object, index) => {
      const source = options.stored?.[index] ?? object;
      const conditions = layout.conditions?.(source);
      return {
        cells: layout.cells(source, now, options.find),
        ...(conditions && { conditions }),
        object: include === 'None' ? null : include === 'Object' ? object : partialMetadata(object, version),
      };
    }),
  };
}

function columnDefinition({ name, type, format = '', description = '', priority = 0 }: Column): object {
  return { name, type, format, description, priority };
}

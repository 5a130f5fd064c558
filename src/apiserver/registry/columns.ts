/** What `kubectl get` shows of a kind: columns, each with what stands in it. */
import type { Container, PodTemplateSpec } from '../../api/generated/core-v1.ts';
import {
  formatAge,
  formatSelector,
  fromLabelSelector,
  type LabelSelectorShape,
  parseTime,
} from '../../machinery/values/index.ts';
import type { ObjectMeta } from '../exchange/object.ts';
import type { Column, FindStored, TableCell, TableLayout } from './strategy.ts';

interface Row {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Reads another stored object, for what is told of this one elsewhere. */
  readonly find: FindStored;
}

type Cell<T> = (object: T, row: Row) => TableCell;

export interface CellColumn<T> extends Column {
  readonly cell: Cell<T>;
}

interface Named {
  metadata: ObjectMeta;
}

export const table = <T extends Named>(columns: readonly CellColumn<T>[]): TableLayout<T> => ({
  columns,
  cells: (object, now, find) => columns.map(({ cell }) => cell(object, { now, find })),
});

export const text = <T>(name: string, description: string, cell: Cell<T>): CellColumn<T> => ({
  name,
  type: 'string',
  description,
  cell,
});
export const integer = <T>(name: string, description: string, cell: Cell<T>): CellColumn<T> => ({
  ...text(name, description, cell),
  type: 'integer',
});
export const flag = <T>(name: string, description: string, cell: Cell<T>): CellColumn<T> => ({
  ...text(name, description, cell),
  type: 'boolean',
});
/** Shown with `-o wide` only. */
export const wide = <T>(column: CellColumn<T>): CellColumn<T> => ({ ...column, priority: 1 });

export const nameColumn: CellColumn<Named> = {
  ...text('Name', 'Name of the object', ({ metadata }) => metadata.name ?? ''),
  format: 'name',
};
export const ageColumn: CellColumn<Named> = text('Age', 'Time since the object was created', ({ metadata }, { now }) =>
  since(metadata.creationTimestamp, now),
);

export const NONE = '<none>';
const SHOWN = 3;

export const orNone = (value: string | undefined | null): string => value || NONE;

/** The first few of a list, and how many more there are. */
export function firstOf(all: readonly string[]): string {
  const more = all.length > SHOWN ? ` + ${all.length - SHOWN} more...` : '';
  return all.slice(0, SHOWN).join(',') + more;
}

/** Time since a timestamp, as kubectl prints ages. */
export function since(time: string | null | undefined, now: number): string {
  const at = parseTime(time);
  return at === undefined ? '<unknown>' : formatAge(now - at);
}

const containersOf = (template: PodTemplateSpec | undefined): readonly Container[] => template?.spec?.containers ?? [];

export const containerColumns = <T>(read: (object: T) => PodTemplateSpec | undefined): CellColumn<T>[] => [
  text('Containers', 'Names of the containers', (object) =>
    containersOf(read(object))
      .map(({ name }) => name)
      .join(','),
  ),
  text('Images', 'Images of the containers', (object) =>
    containersOf(read(object))
      .map(({ image }) => image ?? '')
      .join(','),
  ),
];
/** Of kinds that make pods from a template. */
export const templateColumns = <T>(read: (object: T) => PodTemplateSpec | undefined): CellColumn<T>[] =>
  containerColumns(read).map(wide);
export const selectorColumn = <T>(read: (object: T) => string): CellColumn<T> =>
  wide(text('Selector', 'Selector of the pods', read));

interface Replicated {
  readonly spec?: { readonly replicas?: number | undefined } | undefined;
  readonly status?: { readonly readyReplicas?: number | undefined } | undefined;
}
export const readyColumn: CellColumn<Replicated> = text(
  'Ready',
  'Pods that are ready, of those wanted',
  ({ spec, status }) => `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
);

export function selectorText(selector: LabelSelectorShape | undefined | null): string {
  if (selector === undefined || selector === null) return NONE;
  try {
    return formatSelector(fromLabelSelector(selector)) || NONE;
  } catch {
    return '<error>';
  }
}

export const labelsText = (labels: Readonly<Record<string, string>> | undefined): string =>
  Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join(',') || NONE;

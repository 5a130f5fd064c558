/** Small parts that tables of several kinds share. */
import type { Container, PodTemplateSpec } from '../../api/generated/core-v1.ts';
import {
  formatAge,
  formatSelector,
  fromLabelSelector,
  type LabelSelectorShape,
  parseTime,
} from '../../machinery/values/index.ts';
import type { Column } from '../registry/strategy.ts';

export const text = (name: string, priority = 0, description = ''): Column => ({
  name,
  type: 'string',
  priority,
  description,
});
export const integer = (name: string, priority = 0, description = ''): Column => ({
  name,
  type: 'integer',
  priority,
  description,
});
export const nameColumn: Column = { name: 'Name', type: 'string', format: 'name', description: 'Name of the object' };
export const ageColumn: Column = text('Age', 0, 'Time since the object was created');

export const NONE = '<none>';

export const orNone = (value: string | undefined | null): string => value || NONE;

/** Time since a timestamp, as kubectl prints ages. */
export function since(time: string | null | undefined, now: number): string {
  const at = parseTime(time);
  return at === undefined ? '<unknown>' : formatAge(now - at);
}

export const containerNames = (containers: readonly Container[] | undefined): string =>
  (containers ?? []).map(({ name }) => name).join(',');

export const containerImages = (containers: readonly Container[] | undefined): string =>
  (containers ?? []).map(({ image }) => image ?? '').join(',');

/** Of kinds that make pods from a template, with `-o wide`. */
export const templateColumns: readonly Column[] = [
  text('Containers', 1, 'Names of the containers'),
  text('Images', 1, 'Images of the containers'),
];
export const selectorColumn: Column = text('Selector', 1, 'Selector of the pods');

export function templateCells(template: PodTemplateSpec | undefined): [string, string] {
  const containers = template?.spec?.containers;
  return [containerNames(containers), containerImages(containers)];
}

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

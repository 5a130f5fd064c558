/** `additionalPrinterColumns`: what `kubectl get` shows of a custom resource. */
import type { CustomResourceColumnDefinition } from '../../api/generated/apiextensions-v1.ts';
import { formatAge, parseTime, compileJsonPath, formatScalar, type JsonPath } from '../../machinery/values/index.ts';
import type { ApiObject } from '../exchange/object.ts';
import { nameColumn, table } from '../registry/columns.ts';
import type { TableCell, Column, TableLayout } from '../registry/strategy.ts';

const AGE: CustomResourceColumnDefinition = {
  name: 'Age',
  type: 'date',
  description: 'Time since the object was created',
  jsonPath: '.metadata.creationTimestamp',
};
const TYPES = new Set(['string', 'integer', 'number', 'boolean', 'date']);

export function customLayout(columns: readonly CustomResourceColumnDefinition[] | undefined): TableLayout {
  const shown = columns === undefined || columns.length === 0 ? [AGE] : columns;
  return table<ApiObject>([
    nameColumn,
    ...shown.map((column) => {
      const read = compileJsonPath(column.jsonPath);
      const { type } = column;
      return {
        ...columnOf(column),
        cell: (object: ApiObject, { now }: { now: number }) => cellOf(object, { type, read, now }),
      };
    }),
  ]);
}

function columnOf({ name, type, format, description, priority }: CustomResourceColumnDefinition): Column {
  return {
    name,
    type: (TYPES.has(type) ? type : 'string') as Column['type'],
    ...(format && { format }),
    description: description ?? 'Custom resource definition column',
    ...(priority && { priority }),
  };
}

function cellOf(object: ApiObject, { type, read, now }: { type: string; read: JsonPath; now: number }): TableCell {
  let values: unknown[];
  try {
    values = read(object);
  } catch {
    return '<none>';
  }
  if (values.length === 0) return null;
  if (type === 'string') {
    return values.map(formatScalar).join(',');
  }
  const value = values[0];
  if (value === null || value === undefined) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date': {
      const time = typeof value === 'string' ? parseTime(value) : undefined;
      return time === undefined ? '<invalid>' : formatAge(now - time);
    }
    default:
      return null;
  }
}

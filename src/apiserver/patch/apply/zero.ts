import { isObject } from '../../../machinery/values/index.ts';

/** What a field holds that nobody set. */
export function isZero(value: unknown): boolean {
  if (value === null || value === '' || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}

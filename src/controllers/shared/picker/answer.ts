import type { PickerAnswer } from '../../../decisions/downscale/index.ts';
import { isObject } from '../../../machinery/values/index.ts';
import { PickerError } from './protocol.ts';

/** Reads the body of a 2xx: a JSON object with at least one of the two lists, of strings. Anything else is malformed. */
export function parseAnswer(body: Uint8Array): PickerAnswer {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new PickerError('MalformedAnswer');
  }
  if (!isObject(value) || !('chosen_pods' in value || 'tied_pods' in value)) throw new PickerError('MalformedAnswer');
  return { chosen: readNames(value['chosen_pods']), tied: readNames(value['tied_pods']) };
}

function readNames(list: unknown): string[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list) || !list.every((name): name is string => typeof name === 'string')) {
    throw new PickerError('MalformedAnswer');
  }
  return list;
}

/** The query parameters of a request, checked once. */
import { FieldPath, type Issue, invalid as invalidValue, notSupported, tooLong } from '../../machinery/values/index.ts';
import { badRequest, invalid } from '../exchange/status.ts';

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict';

export interface RequestOptions {
  readonly query: URLSearchParams;
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
  readonly fieldManager: string | undefined;
  readonly force: boolean | undefined;
  readonly pretty: boolean;
}

const FLAGS: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  t: true,
  false: false,
  '0': false,
  f: false,
  '': true,
};

export function booleanOption(query: URLSearchParams, name: string): boolean | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  return FLAGS[text.toLowerCase()] ?? true;
}

export function integerOption(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing "${text}": invalid syntax`);
  const value = BigInt(text.replace(/^\+/, ''));
  if (BigInt.asIntN(64, value) !== value) throw badRequest(`strconv.ParseInt: parsing "${text}": value out of range`);
  return Number(value);
}

const NO_OPTIONS: RequestOptions = {
  query: new URLSearchParams(),
  dryRun: false,
  fieldValidation: 'Warn',
  fieldManager: undefined,
  force: undefined,
  pretty: false,
};

export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions';

/** Longest name of a field manager, in bytes. */
const MAX_MANAGER_BYTES = 128;

/** `optionsKind` is that of a write; reads have options of their own, which their verbs look at. */
export function parseOptions(search: string, optionsKind: OptionsKind | undefined): RequestOptions {
  if (search === '') return NO_OPTIONS;
  const query = new URLSearchParams(search);
  const pretty = booleanOption(query, 'pretty') ?? false;
  if (optionsKind === undefined) return { ...NO_OPTIONS, query, pretty };
  const dryRun = query.getAll('dryRun');
  // Those of a delete are read with its body, which may carry them instead.
  if (optionsKind === 'DeleteOptions') return { ...NO_OPTIONS, query, pretty, dryRun: dryRun.includes('All') };
  const issues: Issue[] = [];
  if (dryRun.some((value) => value !== 'All')) {
    issues.push(notSupported(FieldPath.of('dryRun'), dryRun, ['All']));
  }
  const validation = query.get('fieldValidation') || 'Warn';
  if (validation !== 'Ignore' && validation !== 'Warn' && validation !== 'Strict') {
    issues.push(notSupported(FieldPath.of('fieldValidation'), validation, ['Ignore', 'Strict', 'Warn', '']));
  }
  const fieldManager = query.get('fieldManager') || undefined;
  if (fieldManager !== undefined) issues.push(...checkManager(fieldManager));
  if (issues.length > 0) throw invalid({ group: 'meta.k8s.io', kind: optionsKind }, '', issues);
  return {
    query,
    dryRun: dryRun.length > 0,
    fieldValidation: validation as FieldValidation,
    fieldManager,
    force: booleanOption(query, 'force'),
    pretty,
  };
}

function checkManager(manager: string): Issue[] {
  const path = FieldPath.of('fieldManager');
  if (Buffer.byteLength(manager) > MAX_MANAGER_BYTES) return [tooLong(path, MAX_MANAGER_BYTES)];
  // What Unicode prints, and the plain space: no other blanks, no controls, nothing unassigned.
  const isPrintable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u.test(manager);
  return isPrintable ? [] : [invalidValue(path, manager, 'should only contain printable characters')];
}

import type { ManagedFieldsEntry } from '../../../api/generated/meta-v1.ts';
import { EMPTY_SET, type FieldSet, inOrder, union } from './field-set.ts';
import { parseFieldsV1 } from './fields-v1.ts';

/** What one manager owns, by one way of writing. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly fields: FieldSet;
}

export type ManagerName = Pick<Manager, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;

/** By identity. */
export type Managers = ReadonlyMap<string, Manager>;

/** Appliers are the same in every API version; updaters are told apart by it. */
export function identityOf({ manager, operation, apiVersion, subresource }: ManagerName): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

/** Entries we wrote ourselves: their sets are taken as they are. */
export function storedManagers(entries: readonly ManagedFieldsEntry[]): Managers {
  const managers = new Map<string, Manager>();
  for (const entry of entries) {
    const { manager = '', operation, apiVersion = '', subresource = '', time, fieldsV1 } = entry;
    if (operation !== 'Apply' && operation !== 'Update') continue;
    const decoded: Manager = {
      manager,
      operation,
      apiVersion,
      subresource,
      time,
      fields: (fieldsV1 ?? EMPTY_SET) as FieldSet,
    };
    managers.set(identityOf(decoded), decoded);
  }
  return managers;
}

/** Reads entries of a client; undefined when one of them makes no sense. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[] | undefined): Managers | undefined {
  const managers = new Map<string, Manager>();
  for (const entry of entries ?? []) {
    const decoded = decodeEntry(entry);
    if (decoded === undefined) return undefined;
    managers.set(identityOf(decoded), decoded);
  }
  return managers;
}

function decodeEntry(entry: ManagedFieldsEntry | null): Manager | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { manager, operation, apiVersion, subresource, time, fieldsType } = entry;
  if ((operation !== 'Apply' && operation !== 'Update') || fieldsType !== 'FieldsV1') return undefined;
  if (typeof apiVersion !== 'string' || apiVersion === '') return undefined;
  const fields = parseFieldsV1(entry.fieldsV1);
  if (fields === undefined) return undefined;
  return {
    manager: typeof manager === 'string' ? manager : '',
    operation,
    apiVersion,
    subresource: typeof subresource === 'string' ? subresource : '',
    time: typeof time === 'string' ? time : undefined,
    fields,
  };
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const timeOf = (time: string | undefined): number => (time === undefined ? 0 : Date.parse(time) || 0);

/** Order: appliers first, then by time, name, version, subresource. */
function compareManagers(a: Manager, b: Manager): number {
  return (
    byText(a.operation, b.operation) ||
    timeOf(a.time) - timeOf(b.time) ||
    byText(a.manager, b.manager) ||
    byText(a.apiVersion, b.apiVersion) ||
    byText(a.subresource, b.subresource)
  );
}

export function encodeManagers(managers: Managers): ManagedFieldsEntry[] {
  return [...managers.values()].sort(compareManagers).map((entry) => ({
    manager: entry.manager,
    operation: entry.operation,
    apiVersion: entry.apiVersion,
    ...(entry.time !== undefined && { time: entry.time }),
    fieldsType: 'FieldsV1',
    fieldsV1: inOrder(entry.fields) as Record<string, unknown>,
    ...(entry.subresource !== '' && { subresource: entry.subresource }),
  }));
}

const MAX_UPDATERS = 10;

/** Folds the oldest updaters of each version into `ancient-changes` until at most ten are left. */
export function capUpdaters(managers: Managers): Managers {
  const updaters = [...managers.entries()].filter(([, { operation }]) => operation === 'Update');
  if (updaters.length <= MAX_UPDATERS) return managers;
  updaters.sort(([, a], [, b]) => timeOf(a.time) - timeOf(b.time) || byText(a.manager, b.manager));
  const result = new Map(managers);
  const firstOfVersion = new Map<string, string>();
  let left = updaters.length;
  for (const [id, updater] of updaters) {
    if (left <= MAX_UPDATERS) break;
    const first = firstOfVersion.get(updater.apiVersion);
    if (first === undefined) {
      firstOfVersion.set(updater.apiVersion, id);
      continue;
    }
    const name = { ...updater, manager: 'ancient-changes', subresource: '' };
    const bucketId = identityOf(name);
    const bucket = result.get(bucketId) ?? result.get(first);
    result.delete(first);
    result.delete(id);
    result.set(bucketId, { ...name, fields: union(bucket?.fields ?? EMPTY_SET, updater.fields) });
    left--;
  }
  return result;
}

/** Objects under admission as one version of their resource shows them, and back. */
import { deepClone } from '../../machinery/values/index.ts';
import type { AdmissionAttributes } from '../admission.ts';
import type { ApiObject } from '../object.ts';
import { apiVersion, type VersionRow } from '../registry/row.ts';
import { inVersion } from '../stored/encoding.ts';

/** Subresources such as Eviction and Scale have a kind of their own, which has no other version. */
const isMainKind = ({ row, kind }: AdmissionAttributes): boolean => kind.group === row.group && kind.kind === row.kind;

const versionOf = ({ row }: AdmissionAttributes, name: string): VersionRow | undefined =>
  row.versions.find((version) => version.name === name);

/** A copy that may be changed. */
export function shownIn(attributes: AdmissionAttributes, object: ApiObject, name: string): ApiObject {
  const copy = deepClone(object);
  const { kind, row } = attributes;
  const version = versionOf(attributes, name);
  if (!isMainKind(attributes) || version === undefined) {
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = copy;
    return { kind: kind.kind, apiVersion: apiVersion(kind.group, kind.version), ...rest };
  }
  return { ...inVersion({ row, version }, copy, (stored) => stored) };
}

export function storedFrom(attributes: AdmissionAttributes, shown: ApiObject, name: string): ApiObject {
  const version = versionOf(attributes, name);
  if (!isMainKind(attributes) || version === undefined) return shown;
  const stored = version.toStored === undefined ? shown : version.toStored(shown);
  stored.kind = attributes.row.kind;
  stored.apiVersion = apiVersion(attributes.row.stored.group, attributes.row.stored.version);
  return stored;
}

/** `kind` and `resource` of a request, in a version. */
export function kindIn(attributes: AdmissionAttributes, version: string) {
  const { kind, row } = attributes;
  return {
    kind: isMainKind(attributes) ? { ...kind, version } : { ...kind },
    resource: { group: row.group, version, resource: row.plural },
  };
}

/** Objects under admission as one version of their resource shows them, and back. */
import { deepClone } from '../../machinery/values/index.ts';
import type { AdmissionAttributes } from '../context/admission-plugin.ts';
import type { ApiObject } from '../exchange/object.ts';
import { apiVersion, type ServedVersion } from '../registry/resource.ts';
import { inVersion } from '../stored/encoding.ts';

/** Subresources such as Eviction and Scale have a kind of their own, which has no other version. */
const isMainKind = ({ resource, kind }: AdmissionAttributes): boolean =>
  kind.group === resource.group && kind.kind === resource.kind;

const versionOf = ({ resource }: AdmissionAttributes, name: string): ServedVersion | undefined =>
  resource.versions.find((version) => version.name === name);

/** Has a conversion webhook, if there is one, convert what is under admission to every version. */
export async function learnVersions({ resource, object, oldObject }: AdmissionAttributes): Promise<void> {
  const objects = [object, oldObject].filter((one) => one !== undefined);
  for (const version of resource.versions) await version.learn?.(objects);
}

/** A copy that may be changed. */
export function shownIn(attributes: AdmissionAttributes, object: ApiObject, name: string): ApiObject {
  const copy = deepClone(object);
  const { kind, resource } = attributes;
  const version = versionOf(attributes, name);
  if (!isMainKind(attributes) || version === undefined) {
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = copy;
    return { kind: kind.kind, apiVersion: apiVersion(kind.group, kind.version), ...rest };
  }
  return { ...inVersion({ resource, version }, copy, (stored) => stored) };
}

export function storedFrom(attributes: AdmissionAttributes, shown: ApiObject, name: string): ApiObject {
  const version = versionOf(attributes, name);
  if (!isMainKind(attributes) || version === undefined) return shown;
  const stored = version.toStored === undefined ? shown : version.toStored(shown);
  stored.kind = attributes.resource.kind;
  stored.apiVersion = apiVersion(attributes.resource.stored.group, attributes.resource.stored.version);
  return stored;
}

/** `kind` and `resource` of a request, in a version. */
export function kindIn(attributes: AdmissionAttributes, version: string) {
  const { kind, resource } = attributes;
  return {
    kind: isMainKind(attributes) ? { ...kind, version } : { ...kind },
    resource: { group: resource.group, version, resource: resource.plural },
  };
}

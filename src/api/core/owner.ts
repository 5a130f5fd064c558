/** The controller owner of an object: the one reference, if any, that says who manages it. */
import type { ObjectMeta, OwnerReference } from '../generated/meta-v1.ts';
import { apiVersionOf, type ResourceType } from '../resource.ts';

/** An object as owner references need to see it. */
export interface Owned {
  readonly metadata: ObjectMeta;
}

export function controllerOf({ metadata }: Owned): OwnerReference | undefined {
  return metadata.ownerReferences?.find((reference) => reference.controller === true);
}

export function isControlledBy(object: Owned, owner: Owned): boolean {
  const uid = controllerOf(object)?.uid;
  return uid !== undefined && uid === owner.metadata.uid;
}

/** The reference that makes `owner` the controller of an object and holds the owner back in foreground deletion. */
export function controllerReference(type: ResourceType, { metadata }: Owned): OwnerReference {
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

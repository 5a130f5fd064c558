import type { ApiObject } from '../exchange/object.ts';

export function partialMetadata(object: ApiObject, version: 'v1' | 'v1beta1'): ApiObject {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

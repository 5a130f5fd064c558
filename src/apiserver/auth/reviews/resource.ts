/** Resources of resources that are questions: a create answers, nothing is stored. */
import { isObject } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../exchange/object.ts';
import type { Resource } from '../../registry/resource.ts';

export function reviewResource(
  names: { readonly group: string; readonly kind: string; readonly namespaced?: boolean },
  review: NonNullable<Resource['review']>,
): Resource {
  const singular = names.kind.toLowerCase();
  return {
    group: names.group,
    kind: names.kind,
    listKind: `${names.kind}List`,
    plural: `${singular}s`,
    singular,
    shortNames: [],
    categories: [],
    namespaced: names.namespaced ?? false,
    verbs: ['create'],
    versions: [{ name: 'v1' }],
    stored: { group: names.group, version: 'v1' },
    prefix: `/${names.group}/${singular}s/`,
    strategy: {},
    subresources: new Map(),
    custom: false,
    review,
  };
}

export function specOf<T>(object: ApiObject): Partial<T> {
  return (isObject(object['spec']) ? object['spec'] : {}) as Partial<T>;
}

/** A review may carry no metadata but what the server writes itself. */
export function hasMetadata({ metadata }: ApiObject, except: readonly string[] = []): boolean {
  return Object.entries(metadata).some(
    ([name, value]) =>
      value !== undefined &&
      value !== null &&
      value !== '' &&
      name !== 'managedFields' &&
      name !== 'creationTimestamp' &&
      !except.includes(name),
  );
}

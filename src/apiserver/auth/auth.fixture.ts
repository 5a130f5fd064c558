/** For the tests of this folder: resources and stored objects without a server around them. */
import { builtinKinds } from '../../api/registry.ts';
import { createMemoryStore, type Store } from '../../storage/index.ts';
import type { ApiObject } from '../exchange/object.ts';
import { Registry } from '../registry/registry.ts';
import { ALL_VERBS, objectKey } from '../registry/resource.ts';
import type { StoredReads } from '../stored/kind-view.ts';
import { ObjectCache } from '../stored/object-cache.ts';

export interface Fixture extends StoredReads {
  readonly store: Store;
  put(group: string, plural: string, object: Record<string, unknown> & { metadata: object }): Promise<void>;
  remove(group: string, plural: string, namespace: string | undefined, name: string): Promise<void>;
}

export function fixture(): Fixture {
  const store = createMemoryStore();
  const registry = new Registry();
  for (const names of builtinKinds) {
    const { group, plural } = names;
    registry.add({
      ...names,
      listKind: `${names.kind}List`,
      shortNames: [],
      categories: [],
      verbs: ALL_VERBS,
      versions: names.versions.map((name) => ({ name })),
      stored: { group, version: names.versions[0] },
      prefix: `/${group}/${plural}/`,
      strategy: {},
      subresources: new Map(),
      custom: false,
    });
  }
  const resourceOf = (group: string, plural: string) => {
    const resource = registry.byPlural(group, plural);
    if (resource === undefined) throw new Error(`no resource for ${plural}`);
    return resource;
  };
  return {
    store,
    registry,
    objects: new ObjectCache(),
    async put(group, plural, object) {
      const { namespace, name = '' } = (object as ApiObject).metadata;
      const key = objectKey(resourceOf(group, plural), namespace, name);
      await store.transact((transaction) => transaction.put(key, () => Buffer.from(JSON.stringify(object))));
    },
    async remove(group, plural, namespace, name) {
      await store.transact((transaction) => transaction.delete(objectKey(resourceOf(group, plural), namespace, name)));
    },
  };
}

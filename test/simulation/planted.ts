/** Bugs that are planted on purpose, to see that the oracles find them. */
import { removePod } from '../../src/apiserver/eviction/remove-pod.ts';
import { readEviction } from '../../src/apiserver/eviction/request.ts';
import type { ServerContext } from '../../src/apiserver/index.ts';
import { objectKey } from '../../src/apiserver/registry/resource.ts';
import type { Subresource } from '../../src/apiserver/registry/subresource.ts';

export interface Planted {
  /** Writes are confirmed before they are on the disk. */
  readonly lyingDisk?: boolean;
  /** Watches lose one of so many batches of events. */
  readonly deafWatches?: number;
  /** Evictions are carried out without asking budgets. */
  readonly blindEvictions?: boolean;
  /** Replicas let everything pass without looking at ledgers. */
  readonly blindReviews?: boolean;
}

export const PLANTED = {
  'lying-disk': { lyingDisk: true },
  'deaf-watches': { deafWatches: 40 },
  'blind-evictions': { blindEvictions: true },
  'blind-reviews': { blindReviews: true },
} as const satisfies Record<string, Planted>;

/** Puts an eviction that asks nobody in the place of the real one. */
export function plantBlindEvictions(context: ServerContext): void {
  const resource = context.registry.byPlural('', 'pods');
  const real = resource?.subresources.get('eviction');
  if (resource === undefined || real === undefined) throw new Error('evictions are not served');
  const blind: Subresource = {
    ...real,
    async handle(call) {
      const { options } = readEviction(call);
      await context.store.transact((transaction) => {
        const { name } = call;
        const key = objectKey(resource, call.namespace ?? '', name);
        const entry = transaction.get(key);
        if (entry !== undefined) removePod(context, transaction, { resource, key, name, entry, options });
      });
      return call.answer(201, { kind: 'Status', apiVersion: 'v1', status: 'Success', code: 201 });
    },
  };
  (resource.subresources as Map<string, Subresource>).set('eviction', blind);
}

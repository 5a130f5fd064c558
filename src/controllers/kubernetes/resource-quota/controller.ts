import { keyOf, type ResourceType } from '../../../api/resource.ts';
import { resourceQuotaType } from '../../../api/resource-types.ts';
import type { CountedKind } from '../../../decisions/quota/index.ts';
import { type Client, defineController, discover, watch } from '../../../machinery/runtime/index.ts';
import { semanticEqual } from '../../../machinery/values/index.ts';
import { reconcileResourceQuota } from './reconcile.ts';
import { UsageWatches } from './watches.ts';

const NAME = 'resource-quota';

/** Keeps `status.used` of ResourceQuotas true: counts new ones, and gives back what deleted objects used. */
export const resourceQuotaController = defineController({
  name: NAME,
  workers: 5,
  deps(context, queueOf) {
    const { client, clock, informers } = context;
    const quotas = informers.of(resourceQuotaType);
    const watches = new UsageWatches(context, quotas, queueOf(NAME));
    return { client, clock, quotas, typeOf: createTypeFinder(client, watches) };
  },
  watches: ({ quotas }) => [
    watch(quotas, {
      added: keyOf,
      updated(quota, old) {
        // A charge by admission changes only what is used, and is right by itself.
        const charged = semanticEqual(quota.spec, old.spec) && semanticEqual(quota.spec?.hard, quota.status?.hard);
        return charged ? undefined : keyOf(quota);
      },
    }),
  ],
  reconcile: reconcileResourceQuota,
});

/** Finds the types that quotas count by discovery; whatever is found is followed from then on. */
function createTypeFinder(client: Client, watches: UsageWatches) {
  const types = new Map<string, ResourceType>();
  return async ({ group, plural }: CountedKind): Promise<ResourceType | undefined> => {
    const name = `${plural}.${group}`;
    if (!types.has(name)) {
      for (const found of (await discover(client)).resources) types.set(`${found.plural}.${found.group}`, found);
    }
    const type = types.get(name);
    if (type !== undefined) watches.follow(type);
    return type;
  };
}

import type { ResourceQuota } from '../../api/generated/core-v1.ts';
import { keyOf, type ResourceType } from '../../api/resource.ts';
import { resourceQuotaType } from '../../api/resource-types.ts';
import type { CountedKind } from '../../decisions/quota/index.ts';
import {
  discover,
  type RunningController,
  runController,
  type StartController,
} from '../../machinery/runtime/index.ts';
import { semanticEqual } from '../../machinery/values/index.ts';
import { reconcileResourceQuota } from './reconcile.ts';
import { UsageWatches } from './watches.ts';

/** Keeps `status.used` of ResourceQuotas true: counts new ones, and gives back what deleted objects used. */
export const startResourceQuotaController: StartController = (context): RunningController => {
  const { client, clock, informers } = context;
  const quotas = informers.of(resourceQuotaType);
  const types = new Map<string, ResourceType>();

  async function typeOf({ group, plural }: CountedKind): Promise<ResourceType | undefined> {
    const name = `${plural}.${group}`;
    if (!types.has(name)) {
      for (const found of (await discover(client)).resources) types.set(`${found.plural}.${found.group}`, found);
    }
    const type = types.get(name);
    if (type !== undefined) watches.follow(type);
    return type;
  }

  const { queue } = runController({
    name: 'resource-quota',
    context,
    workers: 5,
    ready: () => quotas.whenSynced(),
    reconcile: (key) => reconcileResourceQuota({ client, clock, quotas, typeOf }, key),
  });
  const watches = new UsageWatches(context, quotas, queue);
  quotas.addHandler({
    added: (quota) => queue.add(keyOf(quota)),
    updated: (quota: ResourceQuota, old) => {
      // A charge by admission changes only what is used, and is right by itself.
      const charged = semanticEqual(quota.spec, old.spec) && semanticEqual(quota.spec?.hard, quota.status?.hard);
      if (!charged) queue.add(keyOf(quota));
    },
  });
  return { name: 'resource-quota', queues: [queue] };
};

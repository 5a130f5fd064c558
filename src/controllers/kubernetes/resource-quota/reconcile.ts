import type { ResourceQuota } from '../../../api/generated/core-v1.ts';
import type { KubeObject, ObjectKey, ResourceType } from '../../../api/resource.ts';
import { resourceQuotaType } from '../../../api/resource-types.ts';
import type { CountedKind } from '../../../decisions/quota/index.ts';
import { type Client, type Clock, type Informer, type ReconcileResult } from '../../../machinery/runtime/index.ts';
import { semanticEqual } from '../../../machinery/values/index.ts';
import { computeUsed, kindsOf } from './count.ts';

/** Usage changes without an event when a terminating pod's time passes, and to be safe. */
const RECOUNT_MS = 5 * 60_000;

export interface ResourceQuotaDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly quotas: Informer<ResourceQuota>;
  /** The resource that serves a counted kind; undefined when none does. */
  readonly typeOf: (kind: CountedKind) => Promise<ResourceType | undefined>;
}

/**
 * Counts what a namespace uses of one quota. Admission charges a quota in the transaction that creates an object, so
 * the count must not be older than the quota it is written to: the objects are listed from the server after the quota
 * was read, and the write fails if the quota was charged since.
 */
export async function reconcileResourceQuota(deps: ResourceQuotaDeps, key: ObjectKey): Promise<ReconcileResult> {
  const quota = deps.quotas.get(key);
  if (quota === undefined || quota.metadata.deletionTimestamp) return {};
  const hard = quota.spec?.hard ?? {};
  const counted = await Promise.all(
    kindsOf(Object.keys(hard)).map(async (kind) => ({ kind, items: await list(deps, kind, key.namespace ?? '') })),
  );
  const status = { hard, used: computeUsed(quota, counted, deps.clock.now()) };
  if (!semanticEqual(quota.status ?? {}, status)) {
    await deps.client.updateStatus(resourceQuotaType, { ...quota, status });
  }
  return { requeueAfterMs: RECOUNT_MS };
}

async function list(deps: ResourceQuotaDeps, kind: CountedKind, namespace: string): Promise<KubeObject[]> {
  const type = await deps.typeOf(kind);
  if (type === undefined) return [];
  const needsSpec = kind.group === '' && ['pods', 'services', 'persistentvolumeclaims'].includes(kind.plural);
  return (await deps.client.list(type, { namespace, metadataOnly: !needsSpec })).items;
}

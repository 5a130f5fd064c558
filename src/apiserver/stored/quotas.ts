import type { ResourceQuota } from '../../api/generated/core-v1.ts';
import { decideQuota } from '../../decisions/quota/index.ts';
import { deepEqual } from '../../machinery/values/index.ts';
import type { StoredEntry, Transaction } from '../../storage/index.ts';
import type { ApiObject } from '../exchange/object.ts';
import { collectionPrefix, type Resource } from '../registry/resource.ts';
import type { StoredReads } from './kind-view.ts';

interface ChargedWrites {
  readonly resource: Resource;
  readonly namespace: string;
  readonly writes: readonly { readonly object: ApiObject; readonly old?: ApiObject | undefined }[];
  readonly now: number;
}

/** Takes objects from the quotas of their namespace, all or none; answers the reason where quotas do not allow it. */
export function chargeQuotas(
  { registry, objects }: Pick<StoredReads, 'registry' | 'objects'>,
  transaction: Transaction,
  { namespace, now, resource, writes }: ChargedWrites,
): string | undefined {
  const quotas = registry.byPlural('', 'resourcequotas');
  const entries = quotas === undefined ? [] : [...transaction.range(collectionPrefix(quotas, namespace))];
  if (entries.length === 0) return undefined;
  const byName = new Map<string, StoredEntry>();
  let held: ResourceQuota[] = [];
  for (const entry of entries) {
    const quota = objects.readOften(entry) as ResourceQuota;
    byName.set(quota.metadata.name ?? '', entry);
    held.push(quota);
  }
  const usage = new Map<string, Record<string, string>>();
  for (const { object, old } of writes) {
    const verdict = decideQuota({ kind: resource, object, old, quotas: held, now });
    if (!verdict.allowed) return verdict.message;
    for (const [name, used] of verdict.used) usage.set(name, used);
    held = held.map((quota) => {
      const used = verdict.used.get(quota.metadata.name ?? '');
      return used === undefined ? quota : { ...quota, status: { ...quota.status, used } };
    });
  }
  for (const [name, used] of usage) charge(transaction, objects, byName.get(name) as StoredEntry, used);
  return undefined;
}

function charge(
  transaction: Transaction,
  objects: StoredReads['objects'],
  entry: StoredEntry,
  used: Record<string, string>,
): void {
  const quota = objects.read(entry);
  const status = quota['status'] as { used?: object };
  if (deepEqual(status.used, used)) return;
  const changed: ApiObject = { ...quota, metadata: { ...quota.metadata }, status: { ...status, used } };
  const written = transaction.put(entry.key, (revision) => {
    changed.metadata.resourceVersion = String(revision);
    return Buffer.from(JSON.stringify(changed), 'utf8');
  });
  objects.keep(written, changed);
}

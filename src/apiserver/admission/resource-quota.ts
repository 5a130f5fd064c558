/**
 * Quotas, decided in the transaction that writes the object: the check, the new usage and the object commit together,
 * so two writers can never both take the last place. Usage is given back by the quota controller.
 */
import type { ResourceQuota } from '../../api/generated/core-v1.ts';
import { decideQuota } from '../../decisions/quota/index.ts';
import type { Clock } from '../../machinery/runtime/index.ts';
import { deepEqual } from '../../machinery/values/index.ts';
import type { StoredEntry, Transaction } from '../../storage/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../context/admission-plugin.ts';
import type { ApiObject } from '../exchange/object.ts';
import { collectionPrefix } from '../registry/resource.ts';
import { forbidden } from '../exchange/status.ts';
import type { StoredReads } from '../stored/kind-view.ts';

/** Kinds whose usage an update can change. */
const CHARGED_ON_UPDATE = new Set(['pods', 'services', 'persistentvolumeclaims']);
/** Objects that come and go with others and are never charged. */
const FREE = new Set(['events', 'bindings', 'leases']);

export function resourceQuota({ registry, objects }: StoredReads, clock: Clock): AdmissionPlugin {
  const quotas = registry.byPlural('', 'resourcequotas');
  if (quotas === undefined) throw new Error('Cannot enforce quotas: the kind ResourceQuota is not served');
  return {
    name: 'ResourceQuota',
    handles: isCharged,
    inTransaction(attributes, transaction) {
      const entries = [...transaction.range(collectionPrefix(quotas, attributes.namespace))];
      if (entries.length === 0 || attributes.object === undefined) return;
      const byName = new Map<string, StoredEntry>();
      const held: ResourceQuota[] = [];
      for (const entry of entries) {
        const quota = objects.readOften(entry) as ResourceQuota;
        byName.set(quota.metadata.name ?? '', entry);
        held.push(quota);
      }
      const { resource, object, oldObject } = attributes;
      const verdict = decideQuota({ kind: resource, object, old: oldObject, quotas: held, now: clock.now() });
      if (!verdict.allowed) throw forbidden(resource, attributes.name, verdict.message);
      for (const [name, used] of verdict.used) {
        charge(transaction, objects, byName.get(name) as StoredEntry, used);
      }
    },
  };
}

function isCharged({ resource, operation, subresource, namespace, oldObject }: AdmissionAttributes): boolean {
  if (!resource.namespaced || namespace === undefined || FREE.has(resource.plural)) return false;
  if (oldObject?.metadata.deletionTimestamp) return false;
  if (operation === 'CREATE') return subresource === undefined;
  if (operation !== 'UPDATE' || resource.group !== '' || !CHARGED_ON_UPDATE.has(resource.plural)) return false;
  return subresource === undefined || (resource.plural === 'pods' && subresource === 'resize');
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

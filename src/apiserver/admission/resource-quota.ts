/**
 * Quotas, decided in the transaction that writes the object: the check, the new usage and the object commit together,
 * so two writers can never both take the last place. Usage is given back by the quota controller.
 */
import type { Clock } from '../../machinery/runtime/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../context/admission-plugin.ts';
import { forbidden } from '../exchange/status.ts';
import type { StoredReads } from '../stored/kind-view.ts';
import { chargeQuotas } from '../stored/quotas.ts';

/** Kinds whose usage an update can change. */
const CHARGED_ON_UPDATE = new Set(['pods', 'services', 'persistentvolumeclaims']);
/** Objects that come and go with others and are never charged. */
const FREE = new Set(['events', 'bindings', 'leases']);

export function resourceQuota({ registry, objects }: StoredReads, clock: Clock): AdmissionPlugin {
  if (registry.byPlural('', 'resourcequotas') === undefined)
    throw new Error('Cannot enforce quotas: the kind ResourceQuota is not served');
  return {
    name: 'ResourceQuota',
    handles: isCharged,
    inTransaction({ name, namespace, object, oldObject, resource }, transaction) {
      if (object === undefined || namespace === undefined) return;
      const write = { resource, namespace, writes: [{ object, old: oldObject }], now: clock.now() };
      const refusal = chargeQuotas({ registry, objects }, transaction, write);
      if (refusal !== undefined) throw forbidden(resource, name, refusal);
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

import { type DisruptionPolicy, disruptionPolicyType } from '../../api/quorate/disruption-policy.ts';
import type { LimitCharge } from '../../decisions/disruption/index.ts';
import { chargedLedger } from '../../decisions/policies/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import type { ApiObject } from '../exchange/object.ts';
import { notFound } from '../exchange/status.ts';
import { objectKey } from '../registry/resource.ts';
import { putObject } from '../stored/encoding.ts';

export interface LimitedDeparture {
  readonly namespace: string;
  readonly pod: { readonly name: string; readonly uid: string };
  readonly by: string;
  readonly way: 'Eviction' | 'GroupEviction';
  readonly now: number;
  /** The group is given notice first. */
  readonly reserve?: { readonly notice: string; readonly until: number } | undefined;
}

/** Enters a disruption in the ledger of every policy that counts it, in the transaction that grants it. */
export function chargePolicies(
  context: ServerContext,
  transaction: Transaction,
  { group, policies, wholeSince }: LimitCharge,
  { by, namespace, now, pod, reserve, way }: LimitedDeparture,
): void {
  const resource = context.registry.byPlural(disruptionPolicyType.group, disruptionPolicyType.plural);
  if (resource === undefined) throw new Error('DisruptionPolicies are not served');
  for (const name of policies) {
    const key = objectKey(resource, namespace, name);
    const entry = transaction.get(key);
    if (entry === undefined) throw notFound(resource, name);
    const { managedFields, object: policy } = context.objects.readParts(entry);
    const { status } = policy as DisruptionPolicy;
    const charged = chargedLedger(status, { group: { group, wholeSince }, pod, by, way, now, begins: true, reserve });
    const object = { ...policy, metadata: { ...policy.metadata }, status: charged } as ApiObject;
    putObject(context, transaction, { resource, key, object, managedFields });
  }
}

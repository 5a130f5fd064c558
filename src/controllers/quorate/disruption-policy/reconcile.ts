import { type DisruptionPolicy, disruptionPolicyType } from '../../../api/quorate/disruption-policy.ts';
import type { ObjectKey } from '../../../api/resource.ts';
import { type DisruptionIndex, isUp } from '../../../decisions/disruption/index.ts';
import { observedLedger, policyOutlook, readPolicy } from '../../../decisions/policies/index.ts';
import {
  type Client,
  type Clock,
  existing,
  type Informer,
  type ReconcileResult,
  settled,
} from '../../../machinery/runtime/index.ts';
import { semanticEqual } from '../../../machinery/values/index.ts';
import type { HeaderSecrets } from './header-secrets.ts';

export interface PolicyDeps {
  readonly client: Client;
  readonly clock: Clock;
  readonly index: DisruptionIndex;
  readonly policies: Informer<DisruptionPolicy>;
  readonly secrets: HeaderSecrets;
}

/** Brings the ledger of a policy to what pods show. Grants are entered by whoever gives them, and win every race. */
export async function reconcileDisruptionPolicy(
  { client, clock, index, secrets }: PolicyDeps,
  { name, namespace = '' }: ObjectKey,
): Promise<ReconcileResult> {
  const policy = await existing(client.get(disruptionPolicyType, { namespace, name }));
  if (policy === undefined) return settled;
  const now = clock.now();
  const facts = readPolicy(policy, index.policy(namespace, name));
  const groups = index.groupsUnder(namespace, name);
  const before = policy.status ?? {};
  const stays = (pod: string, uid: string): boolean => {
    const known = index.pod(namespace, pod);
    return known !== undefined && known.uid === uid && isUp(known);
  };
  const ledger = observedLedger(facts, before.ledger ?? [], { groups, stays, now });
  const after = readPolicy({ ...policy, status: { ...before, ledger } }, facts);
  const looked = await secrets.look(policy, now);
  const outlook = { groups, ledger, now, secretProblem: looked?.problem };
  const { lookAgainAt, status } = policyOutlook(after, before, outlook);
  if (!semanticEqual(before, status)) await client.updateStatus(disruptionPolicyType, { ...policy, status });
  const next = Math.min(lookAgainAt ?? Infinity, looked?.againAt ?? Infinity);
  return next === Infinity ? settled : { requeueAfterMs: Math.max(1, next - now) };
}

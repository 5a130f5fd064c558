import { disruptionPolicyType } from '../../../api/quorate/disruption-policy.ts';
import type { Maintenance } from '../../../api/quorate/maintenance.ts';
import { gatherBudgets } from '../../../cluster-state/index.ts';
import { currentStep, stepsToCome } from '../../../decisions/maintenance/index.ts';
import type { Client } from '../../../machinery/runtime/index.ts';
import type { MaintenanceDeps, Memory } from './deps.ts';

/** How old what is known about notices may be: before a step begins, and while one is under way. */
const BEFORE_MS = 900;
const DURING_MS = 30_000;

/** How long the groups of steps to come are to be told before they go, by the policies as they are now. */
export async function noticesToGive(
  { client, groupEvictions }: MaintenanceDeps,
  maintenance: Maintenance,
  memory: Memory,
  now: number,
): Promise<ReadonlyMap<string, number>> {
  if (!groupEvictions || maintenance.status?.plan === undefined) return new Map();
  const step = `${maintenance.status.plan.number}/${maintenance.status.step?.number ?? 0}`;
  const freshMs = currentStep(maintenance) === undefined ? BEFORE_MS : DURING_MS;
  const known = memory.notices;
  if (known !== undefined && known.step === step && now - known.at < freshMs) return known.ms;
  const ms = await readNotices(client, maintenance, now);
  memory.notices = { at: now, step, ms };
  return ms;
}

async function readNotices(client: Client, { status = {} }: Maintenance, now: number): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  const evictions = stepsToCome(status).steps.flatMap((one) => one.evictions);
  const namespaces = new Set(evictions.flatMap(({ pods }) => pods.map(({ namespace }) => namespace)));
  for (const namespace of namespaces) {
    if (!(await wantsNotice(client, namespace))) continue;
    const { index } = await gatherBudgets(client, { namespace, now });
    for (const { group, pods } of evictions) {
      const own = pods.filter((pod) => pod.namespace === namespace);
      const ms = own.map(({ name }) => index.noticeOn(namespace, name)?.policy?.durationMs ?? 0);
      if (own.length > 0) found.set(group, Math.max(...ms));
    }
  }
  return found;
}

/** Whether a policy of a namespace wants that groups are told before they go. */
export async function wantsNotice(client: Client, namespace: string): Promise<boolean> {
  const { items } = await client.list(disruptionPolicyType, { namespace });
  return items.some(({ spec }) => spec?.notice !== undefined);
}

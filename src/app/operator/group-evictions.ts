import type { GroupEvictionSpec } from '../../api/quorate/group-eviction.ts';
import type { SettledGroup } from '../../controllers/quorate/group-eviction/index.ts';
import { type GroupWebhook, settleGroup } from '../../webhook/index.ts';

const LIMIT_MS = 30_000;

/** Asks the budgets of a group for the controller that carries its eviction out, as the webhook asked before. */
export async function settledGroup(
  groups: GroupWebhook,
  namespace: string,
  spec: GroupEvictionSpec,
): Promise<SettledGroup> {
  const settlement = await settleGroup(groups, { namespace, spec, dryRun: false }, AbortSignal.timeout(LIMIT_MS));
  if (settlement.granted) return settlement;
  const { code, message = 'a budget does not agree' } = settlement.response.status ?? {};
  return { granted: false, reason: code === 404 ? 'NoMembers' : 'Refused', message };
}

import { type GroupEviction, type GroupEvictionSpec, groupEvictionType } from '../../api/quorate/group-eviction.ts';
import { disruptionLedgerType } from '../../api/quorate/types.ts';
import type { NoticeHost, SettledGroup } from '../../controllers/quorate/group-eviction/index.ts';
import { NOTICE_FEED } from '../../decisions/disruption/index.ts';
import { beginNotice, endNotice, type GroupWebhook, type NoticeWebhook, settleGroup } from '../../webhook/index.ts';
import type { Components } from '../run-components.ts';

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

/** What the controller does for notices, by the ledgers of the webhook; and what the webhook has to know of them. */
export function noticesOf(groups: GroupWebhook, informers: Pick<Components['informers'], 'of'>): NoticeHost {
  const evictions = informers.of(groupEvictionType);
  const { index } = groups;
  const seen = (eviction: GroupEviction): void => NOTICE_FEED.set(index, eviction);
  evictions.addHandler({
    added: seen,
    updated: seen,
    deleted: ({ metadata: { name = '', namespace = '' } }) => NOTICE_FEED.delete(index, namespace, name),
  });
  const ledgers = informers.of(disruptionLedgerType);
  const webhook: NoticeWebhook = {
    ...groups,
    begun: new Map(),
    ledgersIn: (namespace) => ledgers.list(namespace),
  };
  return {
    begin: (eviction) => beginNotice(webhook, eviction, AbortSignal.timeout(LIMIT_MS)),
    end: (eviction, notice, begins) => endNotice(webhook, eviction, notice, begins),
  };
}

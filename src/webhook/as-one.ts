/** Plain evictions of members of groups that may only be disrupted together, on a cluster. */
import { groupGoing, targetAsOne } from '../decisions/group-eviction/index.ts';
import { ORIGIN_LABEL } from '../api/quorate/notice.ts';
import { tell } from './eviction-answers.ts';
import { type GroupWebhook, settleGroup } from './group-eviction.ts';
import { evictionNameFor, makeEviction } from './notices.ts';
import { isDryRun } from './pins.ts';
import { allow, type ReviewRequest, type ReviewResponse } from './review.ts';

/**
 * All budgets are asked for all of the group. Where they agree a GroupEviction is made, which charges them and lets all
 * members go, and the eviction is refused for now: drains ask again, find the pod on its way, and end. Undefined where the
 * pod goes like any other, and where several budgets select it: the API server refuses that in its own words.
 */
export async function reviewAsOne(
  webhook: GroupWebhook,
  request: ReviewRequest,
  signal: AbortSignal,
): Promise<ReviewResponse | undefined> {
  const { name = '', namespace = '' } = request;
  const { clock, index } = webhook;
  const pod = index.pod(namespace, name);
  const group = index.asOne(namespace, name);
  if (pod === undefined || group === undefined) return undefined;
  if ((index.ask(namespace, name, clock.now())?.views.length ?? 0) > 1) return undefined;
  const spec = targetAsOne(pod);
  const { username } = request.userInfo ?? {};
  const settlement = await settleGroup(webhook, { namespace, spec, dryRun: true, username, evicted: name }, signal);
  if (!settlement.granted) return settlement.response;
  if (isDryRun(request)) return allow;
  const { members } = settlement;
  const eviction = evictionNameFor(group.group, members);
  await makeEviction(webhook, {
    metadata: { name: eviction, namespace, labels: { [ORIGIN_LABEL]: 'eviction' } },
    spec: { ...spec, reason: `eviction of pod ${name}` },
  });
  return tell(groupGoing(name, `${namespace}/${group.group}`, { eviction, members: members.length }));
}

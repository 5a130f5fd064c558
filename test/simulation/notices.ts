/** Groups that are told before they go: who asks, takes that back and acknowledges. */
import { groupEvictionType } from '../../src/api/quorate/group-eviction.ts';
import { NOTICE_ACKNOWLEDGED_ANNOTATION, NOTICE_ANNOTATION } from '../../src/api/quorate/notice.ts';
import { podType } from '../../src/api/resource-types.ts';
import { type Client, type Clock, ApiError, sleep } from '../../src/machinery/runtime/index.ts';

export type NoticeHappening =
  | { readonly kind: 'ask for group'; readonly name: string; readonly gang: string }
  | { readonly kind: 'withdraw'; readonly name: string }
  /** So many members, each once it is told; the others stay mute. */
  | { readonly kind: 'acknowledge'; readonly gang: string; readonly members: number };

const namespace = 'default';
const LOOK_MS = 500;
/** Who was not told by then will not be. */
const PATIENCE_MS = 90_000;

interface Side {
  readonly client: Client;
  readonly clock: Clock;
}

export async function actOnNotice({ client, clock }: Side, what: NoticeHappening): Promise<void> {
  if (what.kind === 'acknowledge') return acknowledge({ client, clock }, what.gang, what.members);
  const { name } = what;
  if (what.kind === 'withdraw') {
    const body = { spec: { intent: 'Withdrawn' } };
    await client.patch(groupEvictionType, { namespace, name }, { type: 'merge', body });
    return;
  }
  try {
    await client.create(groupEvictionType, { metadata: { name, namespace }, spec: { podGroupName: what.gang } });
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 409) throw error;
  }
}

/** Keeps at it until the members it speaks for have been told and answered, or are gone. */
async function acknowledge({ client, clock }: Side, gang: string, members: number): Promise<void> {
  const begun = clock.elapsed();
  const answered = new Set<string>();
  while (answered.size < members && clock.elapsed() - begun < PATIENCE_MS) {
    const { items } = await client.list(podType, { namespace, labelSelector: `set=${gang}` });
    for (const { metadata } of items.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))) {
      const { annotations = {}, name = '', uid = '' } = metadata;
      const told = annotations[NOTICE_ANNOTATION];
      if (told === undefined || answered.has(uid) || answered.size >= members) continue;
      const { id } = JSON.parse(told) as { id: string };
      const body = { metadata: { uid, annotations: { [NOTICE_ACKNOWLEDGED_ANNOTATION]: id } } };
      await client.patch(podType, { namespace, name }, { type: 'merge', body });
      answered.add(uid);
    }
    await sleep(clock, LOOK_MS);
  }
}

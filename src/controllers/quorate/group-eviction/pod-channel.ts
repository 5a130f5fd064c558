import type { Pod, PodCondition } from '../../../api/generated/core-v1.ts';
import { NOTICE_ACKNOWLEDGED_ANNOTATION, NOTICE_ANNOTATION, NOTICE_CONDITION } from '../../../api/quorate/notice.ts';
import { podType } from '../../../api/resource-types.ts';
import { annotationOf, type ChannelWord, noticeIdOf, readNoticePod } from '../../../decisions/notice/index.ts';
import { type Client, type Clock, isConflict, isNotFound } from '../../../machinery/runtime/index.ts';
import { formatTime } from '../../../machinery/values/index.ts';
import type { Channel, NoticeCall } from './channels.ts';

/** Members are told by an annotation, which a volume of the downward API shows them, and by a condition. */
export function podChannel(client: Client, clock: Pick<Clock, 'now'>): Channel {
  return {
    async deliver(call) {
      const words = new Map<string, ChannelWord[]>();
      for (const pod of call.pods) {
        const { uid = '' } = pod.metadata;
        const told = readNoticePod(pod, call.notice.id).isTold || (await tell({ client, clock }, call, pod));
        if (told) words.set(uid, [{ via: 'Pod', state: 'Told' }]);
      }
      return { words, failed: false };
    },
    async withdraw(call) {
      for (const pod of call.pods) await untell({ client, clock }, call, pod);
    },
  };
}

interface Writer {
  readonly client: Client;
  readonly clock: Pick<Clock, 'now'>;
}

/** False where the pod is gone, or another of its name has come. */
async function tell({ client, clock }: Writer, call: NoticeCall, { metadata }: Pod): Promise<boolean> {
  const { eviction, leader, notice } = call;
  const { name = '', namespace = '', uid } = metadata;
  const { cause, reason } = eviction.spec ?? {};
  const annotation = annotationOf(notice, { namespace, reason, cause, leader });
  const condition: PodCondition = {
    type: NOTICE_CONDITION,
    status: 'True',
    reason: cause?.kind ?? 'GroupEviction',
    message: `the group goes when it has acknowledged, at the latest at ${notice.deadline}`,
    lastTransitionTime: formatTime(clock.now()),
  };
  const annotations = { [NOTICE_ANNOTATION]: JSON.stringify(annotation) };
  return write(client, { name, namespace, uid }, { annotations, condition });
}

async function untell({ client, clock }: Writer, { notice }: NoticeCall, { metadata }: Pod): Promise<void> {
  const { annotations = {}, name = '', namespace = '', uid } = metadata;
  if (noticeIdOf(annotations[NOTICE_ANNOTATION]) !== notice.id) return;
  const condition: PodCondition = {
    type: NOTICE_CONDITION,
    status: 'False',
    reason: 'Withdrawn',
    message: 'the group stays',
    lastTransitionTime: formatTime(clock.now()),
  };
  const taken = {
    [NOTICE_ANNOTATION]: null,
    ...(annotations[NOTICE_ACKNOWLEDGED_ANNOTATION] === notice.id && { [NOTICE_ACKNOWLEDGED_ANNOTATION]: null }),
  };
  await write(client, { name, namespace, uid }, { annotations: taken, condition });
}

async function write(
  client: Client,
  { name, namespace, uid }: { name: string; namespace: string; uid: string | undefined },
  { annotations, condition }: { annotations: Record<string, string | null>; condition: PodCondition },
): Promise<boolean> {
  try {
    const key = { namespace, name };
    // The condition comes first: who has seen the annotation gone, or come, finds the condition to be the same.
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    await client.patch(podType, key, { type: 'strategic', body }, { subresource: 'status' });
    await client.patch(podType, key, { type: 'merge', body: { metadata: { uid, annotations } } });
    return true;
  } catch (error) {
    if (isNotFound(error) || isConflict(error)) return false;
    throw error;
  }
}

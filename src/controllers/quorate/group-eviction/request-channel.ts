import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Eviction, EvictionRequest } from '../../../api/generated/lifecycle-v1alpha1.ts';
import { evictionRequestType } from '../../../api/lifecycle/index.ts';
import { groupEvictionType } from '../../../api/quorate/group-eviction.ts';
import { NOTICE_REQUESTER } from '../../../api/quorate/notice.ts';
import { apiVersionOf, type ObjectKey } from '../../../api/resource.ts';
import { isActive, isOver } from '../../../decisions/eviction-requests/index.ts';
import { type ChannelWord, hearPod, responderOf } from '../../../decisions/notice/index.ts';
import {
  ApiError,
  type Client,
  type Clock,
  type Informer,
  isAlreadyExists,
  isNotFound,
} from '../../../machinery/runtime/index.ts';
import { nameHash } from '../../../machinery/values/index.ts';
import { BY_TARGET, targetKey } from '../../shared/eviction-targets.ts';
import type { Channel, NoticeCall } from './channels.ts';

const MAX_NAME = 253;
/** What the server does not take now is tried again after so long; the deadline is looked to meanwhile. */
const AGAIN_MS = 5000;

export interface RequestChannelOptions {
  readonly client: Client;
  readonly clock: Pick<Clock, 'after'>;
  /** The notice is to be looked at again. */
  readonly wake: (eviction: ObjectKey) => void;
  readonly evictions: Informer<Eviction>;
  readonly requests: Informer<EvictionRequest>;
}

/**
 * Members are told by EvictionRequests: who speaks for their group, or else who responds for their pods, has a turn. A
 * member that somebody asks for already shares that; for each of the others a request is made, which wants nobody gone.
 */
export function requestChannel(options: RequestChannelOptions): Channel {
  const { client, clock, evictions, requests, wake } = options;
  const late = new Set<string>();
  const lookAgain = ({ eviction: { metadata }, notice: { id } }: NoticeCall): void => {
    if (late.has(id)) return;
    late.add(id);
    clock.after(AGAIN_MS, () => {
      late.delete(id);
      wake({ namespace: metadata.namespace, name: metadata.name ?? '' });
    });
  };
  return {
    async deliver(call) {
      const responder = responderOf(call.notice.terms);
      const words = new Map<string, ChannelWord[]>();
      let failed = call.pods.length > 0;
      let isLate = false;
      for (const { metadata } of call.pods) {
        const key = targetKey(metadata);
        const made = requests.byIndex(BY_TARGET, key).some(isActive) ? 'Made' : await request(client, call, metadata);
        isLate ||= made === 'NotNow';
        const open = evictions.byIndex(BY_TARGET, key).find((one) => !isOver(one));
        const heard = made === 'Never' ? { failed: true } : hearPod(open, responder);
        failed &&= heard.failed;
        if (heard.word !== undefined) words.set(metadata.uid ?? '', [heard.word]);
      }
      if (isLate) lookAgain(call);
      return { words, failed };
    },
    async withdraw(call) {
      for (const { metadata } of call.pods) {
        const key = { namespace: metadata.namespace, name: nameOf(call, metadata) };
        try {
          await client.patch(evictionRequestType, key, { type: 'merge', body: { spec: { intent: 'Withdrawn' } } });
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      }
    },
  };
}

type Metadata = Pod['metadata'];

async function request(client: Client, call: NoticeCall, metadata: Metadata): Promise<'Made' | 'Never' | 'NotNow'> {
  const { name = '', namespace, uid = '' } = metadata;
  const owner = call.eviction.metadata;
  const ownerReferences = [
    {
      apiVersion: apiVersionOf(groupEvictionType),
      kind: groupEvictionType.kind,
      name: owner.name ?? '',
      uid: owner.uid ?? '',
    },
  ];
  try {
    await client.create(evictionRequestType, {
      metadata: { name: nameOf(call, metadata), namespace, ownerReferences },
      spec: { target: { pod: { name, uid } }, requester: NOTICE_REQUESTER, intent: 'Eviction' },
    });
    return 'Made';
  } catch (error) {
    if (isAlreadyExists(error)) return 'Made';
    const isFinal = error instanceof ApiError && error.code >= 400 && error.code < 500 && error.code !== 429;
    return isFinal ? 'Never' : 'NotNow';
  }
}

/** One for each notice and pod. */
function nameOf({ notice }: NoticeCall, { name = '', uid = '' }: Metadata): string {
  return `notice-${nameHash(`${notice.id}/${uid}`)}-${name}`.slice(0, MAX_NAME).replace(/[^a-z0-9]+$/, '');
}

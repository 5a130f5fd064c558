import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Eviction, EvictionRequest } from '../../../api/generated/lifecycle-v1alpha1.ts';
import { evictionRequestType } from '../../../api/lifecycle/index.ts';
import { groupEvictionType } from '../../../api/quorate/group-eviction.ts';
import { NOTICE_REQUESTER } from '../../../api/quorate/notice.ts';
import { apiVersionOf } from '../../../api/resource.ts';
import { isActive, isOver } from '../../../decisions/eviction-requests/index.ts';
import { type ChannelWord, hearPod, responderOf } from '../../../decisions/notice/index.ts';
import { ApiError, type Client, type Informer, isAlreadyExists, isNotFound } from '../../../machinery/runtime/index.ts';
import { nameHash } from '../../../machinery/values/index.ts';
import { BY_TARGET, targetKey } from '../../shared/eviction-targets.ts';
import type { Channel, NoticeCall } from './channels.ts';

const MAX_NAME = 253;

export interface RequestChannelOptions {
  readonly client: Client;
  readonly evictions: Informer<Eviction>;
  readonly requests: Informer<EvictionRequest>;
}

/**
 * Members are told by EvictionRequests: who speaks for their group, or else who responds for their pods, has a turn. A
 * member that somebody asks for already shares that; for each of the others a request is made, which wants nobody gone.
 */
export function requestChannel(options: RequestChannelOptions): Channel {
  const { client, evictions, requests } = options;
  return {
    async deliver(call) {
      const responder = responderOf(call.notice.terms);
      const words = new Map<string, ChannelWord[]>();
      let failed = call.pods.length > 0;
      for (const { metadata } of call.pods) {
        const key = targetKey(metadata);
        const isAsked = requests.byIndex(BY_TARGET, key).some(isActive) || (await request(client, call, metadata));
        const open = evictions.byIndex(BY_TARGET, key).find((one) => !isOver(one));
        const heard = isAsked ? hearPod(open, responder) : { failed: true };
        failed &&= heard.failed;
        if (heard.word !== undefined) words.set(metadata.uid ?? '', [heard.word]);
      }
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

/** False where that will never be possible. What may be tried again is thrown, as long as there is time for it. */
async function request(client: Client, call: NoticeCall, metadata: Metadata): Promise<boolean> {
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
    return true;
  } catch (error) {
    if (isAlreadyExists(error)) return true;
    const isFinal = error instanceof ApiError && error.code >= 400 && error.code < 500 && error.code !== 429;
    if (isFinal || call.leftMs <= 0) return false;
    throw error;
  }
}

/** One for each notice and pod. */
function nameOf({ notice }: NoticeCall, { name = '', uid = '' }: Metadata): string {
  return `notice-${nameHash(`${notice.id}/${uid}`)}-${name}`.slice(0, MAX_NAME).replace(/[^a-z0-9]+$/, '');
}

import type { Pod } from '../../../api/generated/core-v1.ts';
import type { NoticeHttp } from '../../../api/quorate/disruption-policy.ts';
import type { ObjectKey } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import {
  type ChannelWord,
  type NoticeRequest,
  type NoticeResponse,
  readNoticeResponse,
  retryAfterMs,
} from '../../../decisions/notice/index.ts';
import { type Client, type Clock, existing } from '../../../machinery/runtime/index.ts';
import { type AddressPolicy, isWorthAnotherTry, openPost, PickerError } from '../../shared/picker/index.ts';
import { CallSlots } from './call-slots.ts';
import type { Channel, Delivery, NoticeCall } from './channels.ts';

const MAX_ANSWER_BYTES = 65_536;
const WITHDRAW_TRIES = 3;

export interface HttpChannelOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly addresses: AddressPolicy;
  readonly extraCertificates?: string | undefined;
  /** Something is known that was not before. */
  readonly wake: (eviction: ObjectKey) => void;
  /** Told what came of each call. */
  readonly counted: (result: string) => void;
  /** Ends every call. */
  readonly signal: AbortSignal;
}

/** One address that is told: that of the group, or of one member. */
interface Target {
  /** The member; absent for the group. */
  readonly member: Pod | undefined;
  attempt: number;
  failures: number;
  /** Nothing is to be heard there any more. */
  isFinal: boolean;
  isBusy: boolean;
  /** Not called before, as elapsed time. */
  nextAt: number;
  message: string | undefined;
  readonly told: Set<string>;
  readonly acknowledged: Set<string>;
}

interface Conversation {
  readonly targets: Map<string, Target>;
  isOver: boolean;
}

/**
 * Members, or one service for all of them, are called. Calls are made behind the looks at a notice: an answer wakes it, and
 * so does the time for the next call. Addresses, certificates and headers are held to the rules of pod pickers.
 */
export class HttpChannel implements Channel {
  readonly #options: HttpChannelOptions;
  readonly #slots = new CallSlots();
  readonly #conversations = new Map<string, Map<number, Conversation>>();

  constructor(options: HttpChannelOptions) {
    this.#options = options;
  }

  deliver(call: NoticeCall, { http }: { http?: NoticeHttp | undefined }, at: number): Promise<Delivery> {
    if (http === undefined) return Promise.resolve({ words: new Map(), failed: true });
    const conversation = this.#conversation(call.notice.id, at);
    const members = http.to === 'EachMember' ? call.pods : [undefined];
    const targets = members.map((member) => targetOf(conversation, member));
    for (const target of targets) this.#goOn({ call, http, conversation, target });
    const words = new Map<string, ChannelWord[]>();
    for (const { acknowledged, message, told } of targets) {
      for (const uid of told) {
        const state = acknowledged.has(uid) ? 'Acknowledged' : 'Told';
        words.set(uid, [{ via: 'HTTP', state, ...(message !== undefined && state === 'Told' && { message }) }]);
      }
    }
    return Promise.resolve({ words, failed: targets.length > 0 && targets.every(hasFailed) });
  }

  /** Tried a few times behind the end of the notice; nobody waits for an answer. */
  withdraw(call: NoticeCall, { http }: { http?: NoticeHttp | undefined }, at: number): Promise<void> {
    const conversation = this.#conversations.get(call.notice.id)?.get(at);
    if (http === undefined || conversation === undefined) return Promise.resolve();
    for (const target of conversation.targets.values()) {
      if (target.attempt > 0) void this.#takeBack(call, http, target);
    }
    return Promise.resolve();
  }

  forget(id: string): void {
    for (const conversation of this.#conversations.get(id)?.values() ?? []) conversation.isOver = true;
    this.#conversations.delete(id);
  }

  #conversation(id: string, at: number): Conversation {
    const known = this.#conversations.get(id) ?? new Map<number, Conversation>();
    this.#conversations.set(id, known);
    const found = known.get(at) ?? { targets: new Map(), isOver: false };
    known.set(at, found);
    return found;
  }

  #goOn(work: Work): void {
    const { call, target } = work;
    const { clock, signal } = this.#options;
    const asked = askedAbout(call, target);
    const isDone = asked.every(({ metadata }) => target.acknowledged.has(metadata.uid ?? ''));
    if (target.isFinal || target.isBusy || isDone || signal.aborted || call.leftMs <= 0) return;
    if (target.nextAt > clock.elapsed()) return;
    target.isBusy = true;
    void this.#call(work, asked);
  }

  async #call({ call, conversation, http, target }: Work, asked: readonly Pod[]): Promise<void> {
    const { clock, counted, wake } = this.#options;
    target.attempt += 1;
    let waitMs = (http.pollSeconds ?? 5) * 1000;
    try {
      const answer = await this.#send(call, http, target, 'Notify');
      if (answer.state === 'Malformed') throw new PickerError('MalformedAnswer');
      counted(answer.state);
      target.failures = 0;
      target.message = answer.state === 'Working' ? answer.message : undefined;
      for (const { metadata } of asked) {
        const { name = '', uid = '' } = metadata;
        target.told.add(uid);
        if (answer.state === 'Acknowledged' && (answer.all || answer.names.includes(name)))
          target.acknowledged.add(uid);
      }
    } catch (error) {
      const failure = error instanceof PickerError ? error.failure : 'ConnectionFailed';
      counted(failure);
      target.failures += 1;
      const isTimeout = failure === 'DeadlineExceeded';
      if (!isTimeout && !isWorthAnotherTry(failure)) target.isFinal = true;
      waitMs = retryAfterMs(target.failures);
    }
    target.isBusy = false;
    if (conversation.isOver) return;
    target.nextAt = clock.elapsed() + waitMs;
    const { name = '', namespace } = call.eviction.metadata;
    wake({ namespace, name });
    clock.after(waitMs, () => {
      if (!conversation.isOver) wake({ namespace, name });
    });
  }

  async #takeBack(call: NoticeCall, http: NoticeHttp, target: Target): Promise<void> {
    const { clock, counted, signal } = this.#options;
    for (let tries = 1; tries <= WITHDRAW_TRIES && !signal.aborted; tries += 1) {
      target.attempt += 1;
      try {
        await this.#send(call, http, target, 'Withdraw');
        return counted('Withdrawn');
      } catch {
        await new Promise<void>((resolve) => void clock.after(retryAfterMs(tries), resolve));
      }
    }
  }

  /** One call, within its time. */
  async #send(
    call: NoticeCall,
    http: NoticeHttp,
    { attempt, member }: Target,
    action: NoticeRequest['action'],
  ): Promise<NoticeResponse> {
    const { client, clock, signal } = this.#options;
    const host = member === undefined ? http.host : await this.#addressOf(member);
    if (!host) throw new PickerError('ConnectionFailed');
    const body = Buffer.from(JSON.stringify(requestOf(call, { action, attempt, member })));
    return this.#slots.run(`${host}:${http.port}`, async () => {
      const stop = new AbortController();
      const late = new Promise<never>((_resolve, reject) => {
        stop.signal.addEventListener('abort', () => reject(new PickerError('DeadlineExceeded')), { once: true });
      });
      const cancel = clock.after((http.timeoutSeconds ?? 5) * 1000, () => stop.abort());
      const end = (): void => stop.abort();
      signal.addEventListener('abort', end, { once: true });
      const sending = openPost(
        {
          namespace: call.eviction.metadata.namespace ?? '',
          secure: (http.scheme ?? 'HTTPS') === 'HTTPS',
          host,
          port: http.port,
          path: http.path ?? '/',
          serverName: http.serverName,
          headers: http.httpHeaders ?? [],
          lines: [['Idempotency-Key', `${call.notice.id}/${action}`]],
          body,
          maxAnswerBytes: MAX_ANSWER_BYTES,
        },
        { client, addresses: this.#options.addresses, extraCertificates: this.#options.extraCertificates },
      ).then((send) => send(stop.signal));
      sending.catch(() => {});
      try {
        const answer = await Promise.race([sending, late]);
        return readNoticeResponse(answer.status, answer.body.toString('utf8'));
      } finally {
        cancel();
        signal.removeEventListener('abort', end);
      }
    });
  }

  /** Caches of clusters do not keep it. */
  async #addressOf({ metadata, status }: Pod): Promise<string | undefined> {
    if (status?.podIP) return status.podIP;
    const { name = '', namespace, uid } = metadata;
    const pod = await existing(this.#options.client.get(podType, { namespace, name }));
    return pod?.metadata.uid === uid ? pod?.status?.podIP : undefined;
  }
}

interface Work {
  readonly call: NoticeCall;
  readonly http: NoticeHttp;
  readonly conversation: Conversation;
  readonly target: Target;
}

const hasFailed = ({ isFinal, told }: Target): boolean => isFinal && told.size === 0;

function targetOf({ targets }: Conversation, member: Pod | undefined): Target {
  const key = member?.metadata.uid ?? '';
  const known = targets.get(key);
  if (known !== undefined) return known;
  const target: Target = {
    member,
    attempt: 0,
    failures: 0,
    isFinal: false,
    isBusy: false,
    nextAt: Number.NEGATIVE_INFINITY,
    message: undefined,
    told: new Set(),
    acknowledged: new Set(),
  };
  targets.set(key, target);
  return target;
}

const askedAbout = ({ pods }: NoticeCall, { member }: Target): readonly Pod[] =>
  member === undefined ? pods : [member];

function requestOf(
  { eviction, leader, notice, pods }: NoticeCall,
  { action, attempt, member }: Pick<Target, 'attempt' | 'member'> & Pick<NoticeRequest, 'action'>,
): NoticeRequest {
  const [kind = '', ...name] = notice.group.split('/');
  const { cause, reason = '' } = eviction.spec ?? {};
  return {
    apiVersion: 'notice.quorate.dev/v1',
    id: notice.id,
    action,
    attempt,
    group: { namespace: eviction.metadata.namespace ?? '', kind, name: name.join('/') },
    ...(leader !== undefined && { leader }),
    ...(member !== undefined && { member: { name: member.metadata.name ?? '', uid: member.metadata.uid ?? '' } }),
    members: pods.map(({ metadata, spec }) => ({
      name: metadata.name ?? '',
      uid: metadata.uid ?? '',
      node: spec?.nodeName ?? '',
    })),
    reason,
    ...(cause !== undefined && { cause }),
    startedAt: notice.startedAt,
    deadline: notice.deadline,
  };
}

/** Tells the record what somebody was answered, once the answer stands. Nothing waits for it and nothing depends on it. */
import { type GroupEviction } from '../../api/quorate/group-eviction.ts';
import {
  type GivenAnswer,
  type AnswerQueue,
  groupNamedBy,
  isRefusalCode,
  readRefusal,
} from '../../decisions/history/index.ts';
import type { DisruptionIndex } from '../../decisions/disruption/index.ts';
import type { Clock } from '../../machinery/runtime/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../context/admission-plugin.ts';
import { ApiError } from '../exchange/status.ts';
import type { SubresourceCall } from '../registry/subresource.ts';

export interface AnswerTeller {
  readonly answers: AnswerQueue;
  readonly clock: Clock;
}

type Asked = Omit<GivenAnswer, 'at' | 'allowed' | 'refusal'>;

/** Of an eviction. A dry run asks for nothing to go. */
export async function tellEviction<T>(
  teller: AnswerTeller | undefined,
  { call, index }: { readonly call: SubresourceCall; readonly index: DisruptionIndex },
  evict: () => Promise<T>,
): Promise<T> {
  if (teller === undefined) return evict();
  const { name, namespace = '', request, user } = call;
  const uid = index.pod(namespace, name)?.uid ?? '';
  const userAgent = request.headers['user-agent'];
  const asked: Asked = {
    kind: 'Eviction',
    namespace,
    pod: { name, uid },
    who: user.username,
    ...(typeof userAgent === 'string' && { userAgent }),
  };
  try {
    const answer = await evict();
    // What is still there after a yes was asked in a dry run, or goes with its grace.
    if (!isDryRun(call)) tell(teller, asked);
    return answer;
  } catch (error) {
    if (!isDryRun(call)) tellRefusal(teller, asked, error);
    throw error;
  }
}

function isDryRun(call: SubresourceCall): boolean {
  const { deleteOptions } = call.body() as { deleteOptions?: { dryRun?: readonly string[] } };
  return call.options.dryRun || call.options.query.has('dryRun') || (deleteOptions?.dryRun?.length ?? 0) > 0;
}

/** Of a GroupEviction, in the transaction that decides on it. */
export function tellGroupEviction(
  teller: AnswerTeller | undefined,
  { dryRun, namespace = '', object, user }: AdmissionAttributes,
  evict: () => void,
): void {
  const { spec } = object as GroupEviction;
  const asked: Asked = { kind: 'GroupEviction', namespace, group: groupNamedBy(spec), who: user.username };
  try {
    evict();
    if (teller !== undefined && !dryRun) tell(teller, asked);
  } catch (error) {
    if (teller !== undefined && !dryRun) tellRefusal(teller, asked, error);
    throw error;
  }
}

/** Of deletes of pods: who asked for them. Whether they went shows by itself. */
export function tellDeletes(
  teller: AnswerTeller,
  judges: (namespace: string, name: string) => boolean,
): AdmissionPlugin {
  return {
    name: 'DisruptionHistory',
    handles: ({ operation, resource, subresource }) =>
      operation === 'DELETE' && resource.group === '' && resource.plural === 'pods' && subresource === undefined,
    validate({ dryRun, namespace = '', oldObject, user }) {
      const { name = '', uid = '' } = oldObject?.metadata ?? {};
      if (dryRun || uid === '') return;
      const judged = judges(namespace, name);
      tell(teller, { kind: 'Delete', namespace, pod: { name, uid }, who: user.username, judged });
    },
  };
}

const tell = ({ answers, clock }: AnswerTeller, asked: Asked): void =>
  answers.tell({ ...asked, at: clock.now(), allowed: true });

function tellRefusal({ answers, clock }: AnswerTeller, asked: Asked, error: unknown): void {
  if (!(error instanceof ApiError) || !isRefusalCode(error.code)) return;
  answers.tell({ ...asked, at: clock.now(), allowed: false, refusal: readRefusal(error.status) });
}

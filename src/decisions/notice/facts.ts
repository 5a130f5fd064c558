import type { Pod } from '../../api/generated/core-v1.ts';
import { LWS } from '../../api/lws/types.ts';
import {
  LEADER_LABEL,
  NOTICE_ACKNOWLEDGED_ANNOTATION,
  NOTICE_ACKNOWLEDGED_CONDITION,
  NOTICE_ANNOTATION,
  NOTICE_CONDITION,
} from '../../api/quorate/notice.ts';
import { parseJsonObject } from './json.ts';

/** A member of the group that is there and not on its way out. */
export interface NoticePod {
  readonly name: string;
  readonly uid: string;
  /** It may be waited for: Ready. */
  readonly isUp: boolean;
  /** Its annotation and its condition name this notice. */
  readonly isTold: boolean;
  /** It says that it has done what it wanted to do. */
  readonly acknowledged: boolean;
  readonly isLeader: boolean;
}

const INDEX = 'batch.kubernetes.io/job-completion-index';

/** What a pod says of a notice. */
export function readNoticePod({ metadata, status }: Pod, id: string): NoticePod {
  const { annotations = {}, name = '', uid = '' } = metadata;
  const conditions = status?.conditions ?? [];
  const of = (wanted: string) => conditions.find(({ type }) => type === wanted);
  const byCondition = of(NOTICE_ACKNOWLEDGED_CONDITION);
  return {
    name,
    uid,
    isUp: of('Ready')?.status === 'True',
    isTold: noticeIdOf(annotations[NOTICE_ANNOTATION]) === id && of(NOTICE_CONDITION)?.status === 'True',
    acknowledged:
      annotations[NOTICE_ACKNOWLEDGED_ANNOTATION] === id ||
      (byCondition?.status === 'True' && byCondition.message === id),
    isLeader: leads(metadata),
  };
}

/** The notice that an annotation speaks of. */
export function noticeIdOf(annotation: string | undefined): string | undefined {
  const id = annotation === undefined ? undefined : parseJsonObject(annotation)?.['id'];
  return typeof id === 'string' ? id : undefined;
}

/** Worker 0 of a group of a LeaderWorkerSet, index 0 of an indexed Job; where neither says so, the pod with the label. */
function leads({ annotations = {}, labels = {} }: Pod['metadata']): boolean {
  const index = labels[LWS.workerIndex] ?? labels[INDEX] ?? annotations[INDEX];
  return index === undefined ? labels[LEADER_LABEL] !== undefined : index === '0';
}

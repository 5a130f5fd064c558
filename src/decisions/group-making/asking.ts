import { isJobFinished } from '../../api/batch/job-state.ts';
import type { Job } from '../../api/generated/batch-v1.ts';
import type { JobSet } from '../../api/jobset/types.ts';
import { fromKruise, type KruiseLeaderWorkerSet, kruiseLeaderWorkerSetType } from '../../api/lws/types.ts';
import type { LeaderWorkerSet } from '../../api/lws/types.ts';
import type { KubeObject } from '../../api/resource.ts';
import { decideJobGang } from './job.ts';
import { decideJobSetGang } from './job-set.ts';
import { decideSetGang } from './leader-worker-set.ts';

export interface Asking {
  /** Its pods are to be put in groups. */
  readonly asks: boolean;
  /** It asks in a way that cannot be read. */
  readonly unreadable: boolean;
}

/** Whether an owner asks for groups; any object, by its kind. */
export function asksForGroups(object: KubeObject): Asking {
  const reason = reasonOf(object);
  return { asks: reason === 'Gang' || reason === 'Basic', unreadable: reason === 'Unreadable' };
}

function reasonOf(object: KubeObject): string {
  const { apiVersion = '', kind } = object;
  switch (kind) {
    case 'Job':
      return isJobFinished(object as Job) ? 'NotAsked' : decideJobGang(object as Job).reason;
    case 'JobSet':
      return (object as JobSet).status?.terminalState ? 'NotAsked' : decideJobSetGang(object as JobSet).reason;
    case 'LeaderWorkerSet': {
      const isKruise = apiVersion.startsWith(`${kruiseLeaderWorkerSetType.group}/`);
      const set = isKruise ? fromKruise(object as KruiseLeaderWorkerSet) : (object as LeaderWorkerSet);
      return decideSetGang(set).reason;
    }
    default:
      return 'NotAsked';
  }
}

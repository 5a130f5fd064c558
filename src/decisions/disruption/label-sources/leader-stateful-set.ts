import { statefulSetType } from '../../../api/resource-types.ts';
import { LWS } from '../../../api/lws/types.ts';
import type { LabelSource } from './label-source.ts';

/** The StatefulSet of a LeaderWorkerSet's leaders knows how many groups there should be. */
export const leaderStatefulSetSource: LabelSource = {
  type: statefulSetType,
  read({ metadata: { annotations, labels } }) {
    const set = labels?.[LWS.name];
    const replicas = annotations?.[LWS.replicas];
    if (set === undefined || replicas === undefined || !/^\d+$/.test(replicas)) return undefined;
    return { key: `LeaderWorkerSet/${set}`, source: { replicas: Number(replicas) } };
  },
};

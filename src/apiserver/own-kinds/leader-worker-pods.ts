import type { Pod } from '../../api/generated/core-v1.ts';
import { markLeaderWorkerPod } from '../../api/lws/pod-marks.ts';
import type { AdmissionPlugin } from '../admission.ts';

/** Numbers the pods of LeaderWorkerSets as they are created; on a cluster its own webhook does that. */
export const leaderWorkerPods = (random: () => number): AdmissionPlugin => ({
  name: 'LeaderWorkerSetPods',
  handles: ({ operation, row, subresource }) =>
    operation === 'CREATE' && row.group === '' && row.plural === 'pods' && subresource === undefined,
  admit({ namespace = '', object }) {
    if (object !== undefined) markLeaderWorkerPod(object as unknown as Pod, namespace, random);
  },
});

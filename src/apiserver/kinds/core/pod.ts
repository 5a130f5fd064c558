import type { Pod } from '../../../api/generated/core-v1.ts';
import { formatTime, semanticEqual } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { podTable } from './pod-columns.ts';
import { defaultPod } from './pod-defaults.ts';
import { qosClassOf } from './pod-qos.ts';
import { validatePod, validatePodUpdate } from './pod-validation.ts';

const asPod = (object: ApiObject): Pod => object as unknown as Pod;

export const podStrategy: Strategy = {
  defaults: (object) => defaultPod(asPod(object)),
  prepareForCreate(object, { now }) {
    const pod = asPod(object);
    pod.status = { phase: 'Pending', qosClass: qosClassOf(pod) };
    if ((pod.spec?.schedulingGates ?? []).length > 0) {
      pod.status.conditions = [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
          lastProbeTime: null as unknown as undefined,
          lastTransitionTime: formatTime(now),
        },
      ];
    }
    if (pod.spec) delete pod.spec.ephemeralContainers;
  },
  prepareForUpdate(object, old) {
    const pod = asPod(object);
    const before = asPod(old);
    if (pod.status && before.status?.qosClass) pod.status = { ...pod.status, qosClass: before.status.qosClass };
    // A negative period, kept from old versions, may be corrected to the one the server uses for it.
    const period = before.spec?.terminationGracePeriodSeconds;
    if (pod.spec && period !== undefined && period < 0) pod.spec = { terminationGracePeriodSeconds: 1, ...pod.spec };
  },
  prepareForStatusUpdate(object, old) {
    const status = asPod(object).status;
    const before = asPod(old).status;
    // The class is decided by the spec, whatever a kubelet reports.
    if (status && before?.qosClass) status.qosClass = before.qosClass;
    if (old.metadata.ownerReferences === undefined) delete object.metadata.ownerReferences;
    else object.metadata.ownerReferences = old.metadata.ownerReferences;
  },
  validate: (object, _version, replica) => validatePod(asPod(object), replica && asPod(replica).spec),
  ratchets: true,
  validateUpdate(object, old) {
    const [pod, before] = [asPod(object), asPod(old)];
    // Most writes leave the spec alone, and it was checked when it was written.
    return [...(pod.spec === before.spec ? [] : validatePod(pod)), ...validatePodUpdate(pod, before)];
  },
  generation: (object, old) => !semanticEqual(asPod(object).spec, asPod(old).spec),
  deleteReturnsObject: true,
  gracePeriod(object, asked) {
    const pod = asPod(object);
    let period = asked ?? pod.spec?.terminationGracePeriodSeconds ?? 30;
    if (period < 0) period = 1;
    const phase = pod.status?.phase;
    if (!pod.spec?.nodeName || phase === 'Failed' || phase === 'Succeeded') return 0;
    return period;
  },
  fields(object) {
    const { spec, status } = asPod(object);
    return {
      'spec.nodeName': spec?.nodeName ?? '',
      'spec.restartPolicy': spec?.restartPolicy ?? '',
      'spec.schedulerName': spec?.schedulerName ?? '',
      'spec.serviceAccountName': spec?.serviceAccountName ?? '',
      'spec.hostNetwork': String(spec?.hostNetwork ?? false),
      'status.phase': status?.phase ?? '',
      'status.podIP': status?.podIP ?? '',
      'status.podIPs': (status?.podIPs ?? []).map(({ ip }) => ip).join(','),
      'status.nominatedNodeName': status?.nominatedNodeName ?? '',
    };
  },
  table: podTable,
};

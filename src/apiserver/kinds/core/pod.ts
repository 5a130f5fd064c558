import type { Pod } from '../../../api/generated/core-v1.ts';
import { formatTime, semanticEqual } from '../../../machinery/values/index.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { podTable } from './pod-columns.ts';
import { defaultPod } from './pod-defaults.ts';
import { qosClassOf } from './pod-qos.ts';
import { validatePod, validatePodUpdate } from './pod-validation.ts';

export const podStrategy = strategyOf<Pod>({
  defaults: (object) => defaultPod(object),
  prepareForCreate(object, { now }) {
    object.status = { phase: 'Pending', qosClass: qosClassOf(object) };
    if ((object.spec?.schedulingGates ?? []).length > 0) {
      object.status.conditions = [
        {
          type: 'PodScheduled',
          status: 'False',
          reason: 'SchedulingGated',
          message: 'Scheduling is blocked due to non-empty scheduling gates',
          // As Kubernetes writes it, although its schema has no null.
          lastProbeTime: null as unknown as undefined,
          lastTransitionTime: formatTime(now),
        },
      ];
    }
    if (object.spec) delete object.spec.ephemeralContainers;
  },
  prepareForUpdate(object, old) {
    const before = old;
    if (object.status && before.status?.qosClass)
      object.status = { ...object.status, qosClass: before.status.qosClass };
    // A negative period, kept from old versions, may be corrected to the one the server uses for it.
    const period = before.spec?.terminationGracePeriodSeconds;
    if (object.spec && period !== undefined && period < 0)
      object.spec = { terminationGracePeriodSeconds: 1, ...object.spec };
  },
  prepareForStatusUpdate(object, old) {
    const status = object.status;
    const before = old.status;
    // The class is decided by the spec, whatever a kubelet reports.
    if (status && before?.qosClass) status.qosClass = before.qosClass;
    if (old.metadata.ownerReferences === undefined) delete object.metadata.ownerReferences;
    else object.metadata.ownerReferences = old.metadata.ownerReferences;
  },
  validate: (object) => validatePod(object),
  ratchets: true,
  validateUpdate(object, old) {
    // Most writes leave the spec alone, and it was checked when it was written.
    return [...(object.spec === old.spec ? [] : validatePod(object)), ...validatePodUpdate(object, old)];
  },
  generation: (object, old) => !semanticEqual(object.spec, old.spec),
  deleteReturnsObject: true,
  gracePeriod(object, asked) {
    let period = asked ?? object.spec?.terminationGracePeriodSeconds ?? 30;
    if (period < 0) period = 1;
    const phase = object.status?.phase;
    if (!object.spec?.nodeName || phase === 'Failed' || phase === 'Succeeded') return 0;
    return period;
  },
  fields(object) {
    const { spec, status } = object;
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
});

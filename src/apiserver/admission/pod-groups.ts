/** Admission around groups of pods: gates of their fields, and the template an older version insists on. */
import type { StoredPodGroup, StoredWorkload } from '../../api/scheduling/index.ts';
import { FeatureGates } from '../../machinery/runtime/index.ts';
import { type AdmissionAttributes, type AdmissionPlugin, refusedName } from '../context/admission-plugin.ts';
import { forbidden } from '../exchange/status.ts';
import { KindView, type StoredReads } from '../stored/kind-view.ts';
import { isPodCreate, podOf, specOf } from './pods.ts';

const GROUP = 'scheduling.k8s.io';

/** In v1alpha2 a PodGroup made from a template needs the Workload and the template to be there. */
export function podGroupWorkloadExists(reads: StoredReads): AdmissionPlugin {
  const workloads = new KindView<StoredWorkload>(reads, GROUP, 'workloads');
  return {
    name: 'PodGroupWorkloadExists',
    handles: ({ operation, resource, subresource, version }) =>
      resource.group === GROUP &&
      resource.plural === 'podgroups' &&
      operation === 'CREATE' &&
      subresource === undefined &&
      version === 'v1alpha2',
    validate(attributes) {
      const { spec } = attributes.object as Partial<StoredPodGroup>;
      if (spec?.workloadRef === undefined) return;
      const { templateName, workloadName } = spec.workloadRef;
      const found = workloads.get(attributes.namespace, workloadName);
      const refuse = (why: string) => forbidden(attributes.resource, refusedName(attributes), why);
      if (found === undefined) throw refuse(`workload "${workloadName}" does not exist`);
      if (found.metadata.deletionTimestamp) throw refuse(`workload "${workloadName}" is being deleted`);
      if (found.spec.podGroupTemplates?.some(({ name }) => name === templateName) !== true) {
        throw refuse(`workload "${workloadName}" has no pod group template "${templateName}"`);
      }
    },
  };
}

/** Responders mean nothing where nobody asks them. */
export function responderFieldGate(gates = new FeatureGates()): AdmissionPlugin {
  return {
    name: 'ResponderFieldGate',
    handles: (attributes) => isPodCreate(attributes) && !gates.enabled('EvictionRequestAPI'),
    admit: (attributes) => {
      delete specOf(podOf(attributes)).evictionResponders;
    },
  };
}

/** Fields behind a gate that is off are dropped from new pods; pods that have them keep them. */
export function groupFieldGates(gates = new FeatureGates()): AdmissionPlugin {
  const handles = (attributes: AdmissionAttributes): boolean =>
    isPodCreate(attributes) && !(gates.enabled('GenericWorkload') && gates.enabled('GenericWorkloadPodGroup'));
  return {
    name: 'GroupFieldGates',
    handles,
    admit(attributes) {
      const spec = specOf(podOf(attributes));
      delete spec.schedulingGroup;
      if (gates.enabled('GenericWorkload')) {
        if (spec.workloadRef?.podGroupName !== undefined) delete spec.workloadRef;
        return;
      }
      delete spec.workloadRef;
      delete spec.workloadReference;
      delete spec.workload;
    },
  };
}

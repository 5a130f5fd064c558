/** Resolves the priority class of a pod or pod group to its number, and keeps at most one class the default of the cluster. */
import type { PriorityClass } from '../../api/generated/scheduling-v1.ts';
import type { StoredPodGroup } from '../../api/scheduling/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { forbidden } from '../status.ts';
import { KindView, type StoredReads } from '../stored/kind-view.ts';
import { isPodWrite, podOf, specOf } from './pods.ts';

const GROUP = 'scheduling.k8s.io';
const DEFAULT_POLICY = 'PreemptLowerPriority';

/** Known even before the objects exist. */
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};

interface Resolved {
  readonly name: string;
  readonly value: number;
  readonly policy: string;
}

export function priorities(reads: StoredReads): AdmissionPlugin {
  const classes = new KindView<PriorityClass>(reads, GROUP, 'priorityclasses');

  const resolve = (name: string): Resolved | undefined => {
    const found = classes.get(undefined, name);
    if (found !== undefined) return resolved(found);
    const value = SYSTEM_CLASSES[name];
    return value === undefined ? undefined : { name, value, policy: DEFAULT_POLICY };
  };
  const byDefault = (): Resolved => {
    let best: PriorityClass | undefined;
    for (const item of classes.values()) {
      if (item.globalDefault && (best === undefined || (item.value ?? 0) < (best.value ?? 0))) best = item;
    }
    return best === undefined ? { name: '', value: 0, policy: DEFAULT_POLICY } : resolved(best);
  };

  const admitPod = (attributes: AdmissionAttributes): void => {
    const spec = specOf(podOf(attributes));
    if (attributes.operation === 'UPDATE') {
      const old = (attributes.oldObject as { spec?: { priority?: number; preemptionPolicy?: string } } | undefined)
        ?.spec;
      if (spec.priority === undefined && old?.priority !== undefined) spec.priority = old.priority;
      if (spec.preemptionPolicy === undefined && old?.preemptionPolicy !== undefined) {
        spec.preemptionPolicy = old.preemptionPolicy;
      }
      return;
    }
    const refuse = (why: string) => forbidden(attributes.row, attributes.name, why);
    const asked = spec.priorityClassName ?? '';
    const found = asked === '' ? byDefault() : resolve(asked);
    if (found === undefined) throw refuse(`no PriorityClass with name ${asked} was found`);
    if (found.name !== '') spec.priorityClassName = found.name;
    if (spec.priority !== undefined && spec.priority !== null && spec.priority !== found.value) {
      throw refuse(
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${found.value} from the given PriorityClass name`,
      );
    }
    spec.priority = found.value;
    if (spec.preemptionPolicy && spec.preemptionPolicy !== found.policy) {
      throw refuse(
        `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${found.policy} from the given PriorityClass name`,
      );
    }
    spec.preemptionPolicy = found.policy;
  };

  /** A group names its class as a pod does; the draft version knows no priorities. */
  const admitGroup = (attributes: AdmissionAttributes): void => {
    const { spec } = attributes.object as unknown as StoredPodGroup;
    const refuse = (why: string) => forbidden(attributes.row, attributes.name, why);
    const asked = spec.priorityClassName ?? '';
    const found = asked === '' ? byDefault() : resolve(asked);
    if (found === undefined) throw refuse(`no PriorityClass with name ${asked} was found`);
    if (found.name !== '') spec.priorityClassName = found.name;
    if (spec.priority !== undefined && spec.priority !== found.value) {
      throw refuse(
        `the integer value of priority (${spec.priority}) must not be provided in pod group spec; priority admission controller computed ${found.value} from the given PriorityClass name`,
      );
    }
    spec.priority = found.value;
  };
  const isGroupCreate = ({ operation, row, subresource, version }: AdmissionAttributes): boolean =>
    row.group === GROUP &&
    row.plural === 'podgroups' &&
    operation === 'CREATE' &&
    subresource === undefined &&
    version !== 'v1alpha1';

  const isClassWrite = ({ row, operation }: AdmissionAttributes): boolean =>
    row.group === GROUP && row.plural === 'priorityclasses' && operation !== 'DELETE';

  return {
    name: 'Priority',
    handles: (attributes) => isPodWrite(attributes) || isClassWrite(attributes) || isGroupCreate(attributes),
    admit(attributes) {
      if (isPodWrite(attributes)) admitPod(attributes);
      else if (isGroupCreate(attributes)) admitGroup(attributes);
    },
    validate(attributes) {
      if (!isClassWrite(attributes)) return;
      const given = attributes.object as unknown as PriorityClass;
      if (!given.globalDefault) return;
      for (const other of classes.values()) {
        if (other.globalDefault && other.metadata.name !== given.metadata.name) {
          throw forbidden(
            attributes.row,
            attributes.name,
            `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`,
          );
        }
      }
    },
  };
}

function resolved({ metadata, value, preemptionPolicy }: PriorityClass): Resolved {
  return { name: metadata.name ?? '', value: value ?? 0, policy: preemptionPolicy ?? DEFAULT_POLICY };
}

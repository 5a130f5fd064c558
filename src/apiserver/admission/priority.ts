/** Resolves the priority class of a pod or pod group to its number, and keeps at most one class the default of the cluster. */
import type { Pod } from '../../api/generated/core-v1.ts';
import type { PriorityClass } from '../../api/generated/scheduling-v1.ts';
import type { StoredPodGroup } from '../../api/scheduling/index.ts';
import { type AdmissionAttributes, type AdmissionPlugin, refusedName } from '../context/admission-plugin.ts';
import { forbidden } from '../exchange/status.ts';
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

type Classes = KindView<PriorityClass>;

export function priorities(reads: StoredReads): AdmissionPlugin {
  const classes: Classes = new KindView<PriorityClass>(reads, GROUP, 'priorityclasses');
  return {
    name: 'Priority',
    handles: (attributes) => isPodWrite(attributes) || isClassWrite(attributes) || isGroupCreate(attributes),
    admit(attributes) {
      if (isPodWrite(attributes)) admitPod(classes, attributes);
      else if (isGroupCreate(attributes)) admitGroup(classes, attributes);
    },
    validate(attributes) {
      if (isClassWrite(attributes)) checkOneDefault(classes, attributes);
    },
  };
}

function admitPod(classes: Classes, attributes: AdmissionAttributes): void {
  const spec = specOf(podOf(attributes));
  if (attributes.operation === 'UPDATE') {
    const old = (attributes.oldObject as Pod | undefined)?.spec;
    if (spec.priority === undefined && old?.priority !== undefined) spec.priority = old.priority;
    if (spec.preemptionPolicy === undefined && old?.preemptionPolicy !== undefined) {
      spec.preemptionPolicy = old.preemptionPolicy;
    }
    return;
  }
  const { policy } = setPriority(classes, attributes, { spec, where: 'pod spec' });
  if (spec.preemptionPolicy && spec.preemptionPolicy !== policy) {
    throw forbidden(
      attributes.resource,
      refusedName(attributes),
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  spec.preemptionPolicy = policy;
}

/** A group names its class as a pod does; the draft version knows no priorities. */
function admitGroup(classes: Classes, attributes: AdmissionAttributes): void {
  const { spec } = attributes.object as Partial<StoredPodGroup>;
  // Validation says that it is missing.
  if (spec === undefined) return;
  setPriority(classes, attributes, { spec, where: 'pod group spec' });
}

interface Prioritized {
  priorityClassName?: string | undefined;
  priority?: number | null | undefined;
}

function setPriority(
  classes: Classes,
  attributes: AdmissionAttributes,
  { spec, where }: { readonly spec: Prioritized; readonly where: string },
): Resolved {
  const { resource } = attributes;
  const asked = spec.priorityClassName ?? '';
  const found = asked === '' ? byDefault(classes) : resolve(classes, asked);
  if (found === undefined)
    throw forbidden(resource, refusedName(attributes), `no PriorityClass with name ${asked} was found`);
  if (found.name !== '') spec.priorityClassName = found.name;
  if (spec.priority !== undefined && spec.priority !== null && spec.priority !== found.value) {
    throw forbidden(
      resource,
      refusedName(attributes),
      `the integer value of priority (${spec.priority}) must not be provided in ${where}; priority admission controller computed ${found.value} from the given PriorityClass name`,
    );
  }
  spec.priority = found.value;
  return found;
}

function checkOneDefault(classes: Classes, attributes: AdmissionAttributes): void {
  const { object, resource } = attributes;
  const given = object as PriorityClass;
  if (!given.globalDefault) return;
  for (const other of classes.values()) {
    if (other.globalDefault && other.metadata.name !== given.metadata.name) {
      const why = `PriorityClass ${other.metadata.name} is already marked as default. Only one default can exist`;
      throw forbidden(resource, refusedName(attributes), why);
    }
  }
}

const isGroupCreate = ({ operation, resource, subresource, version }: AdmissionAttributes): boolean =>
  resource.group === GROUP &&
  (resource.plural === 'podgroups' || resource.plural === 'compositepodgroups') &&
  operation === 'CREATE' &&
  subresource === undefined &&
  version !== 'v1alpha1';

const isClassWrite = ({ resource, operation }: AdmissionAttributes): boolean =>
  resource.group === GROUP && resource.plural === 'priorityclasses' && operation !== 'DELETE';

function resolve(classes: Classes, name: string): Resolved | undefined {
  const found = classes.get(undefined, name);
  if (found !== undefined) return resolved(found);
  const value = SYSTEM_CLASSES[name];
  return value === undefined ? undefined : { name, value, policy: DEFAULT_POLICY };
}

function byDefault(classes: Classes): Resolved {
  let best: PriorityClass | undefined;
  for (const item of classes.values()) {
    if (item.globalDefault && (best === undefined || (item.value ?? 0) < (best.value ?? 0))) best = item;
  }
  return best === undefined ? { name: '', value: 0, policy: DEFAULT_POLICY } : resolved(best);
}

function resolved({ metadata, value, preemptionPolicy }: PriorityClass): Resolved {
  return { name: metadata.name ?? '', value: value ?? 0, policy: preemptionPolicy ?? DEFAULT_POLICY };
}

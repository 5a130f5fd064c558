/** Which kinds are looked at for what, and when: on creates always, on updates as kube-apiserver does. */
import type { Ingress } from '../../../api/generated/networking-v1.ts';
import type { RuntimeClass } from '../../../api/generated/node-v1.ts';
import type {
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PodSpec,
  ResourceQuota,
  Service,
} from '../../../api/generated/core-v1.ts';
import type { StorageClass } from '../../../api/generated/storage-v1.ts';
import { checkDnsLabel, compareQuantities, FieldPath } from '../../../machinery/values/index.ts';
import type { ApiObject, ObjectMeta } from '../../exchange/object.ts';
import { podCidrWarnings } from '../core/node-cidrs.ts';
import { CLAIM_ANNOTATIONS, NODE_LABELS, PERSISTENT_VOLUMES, VOLUME_ANNOTATIONS } from './deprecated-names.ts';
import { fractions, podWarnings, termWarnings } from './pod-spec.ts';
import { serviceWarnings } from './service.ts';

type Warn = (object: ApiObject, old: ApiObject | undefined) => string[];

interface Template {
  readonly metadata?: ObjectMeta;
  readonly spec?: Partial<PodSpec>;
}

const RECOMMENDED = 'which can result in surprising behavior; a DNS label is recommended';

function nameWarnings({ metadata }: ApiObject, usedIn: string): string[] {
  const problems = checkDnsLabel(metadata.name ?? '');
  return problems.length === 0
    ? []
    : [`metadata.name: this is used in ${usedIn}, ${RECOMMENDED}: [${problems.join(' ')}]`];
}

/** A template that pods are made by, at a path; looked at again when the spec has changed. */
function ofTemplate(path: readonly string[], { named = false }: { named?: boolean } = {}): Warn {
  const at = FieldPath.of(...path);
  return (object, old) => {
    if (old !== undefined && old.metadata.generation === object.metadata.generation) return [];
    let template: unknown = object;
    for (const name of path) template = (template as Record<string, unknown> | undefined)?.[name];
    const ofName = named && old === undefined ? nameWarnings(object, 'Pod names and hostnames') : [];
    return template === undefined ? ofName : [...ofName, ...podWarnings(template as Template, at, true)];
  };
}

function annotated({ metadata }: ApiObject, table: Readonly<Record<string, string>>): string[] {
  const path = FieldPath.of('metadata', 'annotations');
  return Object.keys(table).flatMap((name) =>
    metadata.annotations?.[name] === undefined ? [] : [`${path.key(name).toString()}: ${table[name]}`],
  );
}

function volume(object: ApiObject): string[] {
  const { spec = {} } = object as ApiObject & PersistentVolume;
  const warnings = annotated(object, VOLUME_ANNOTATIONS);
  if (spec.persistentVolumeReclaimPolicy === 'Recycle') {
    warnings.push(
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
    );
  }
  const terms = FieldPath.of('spec', 'nodeAffinity', 'required', 'nodeSelectorTerms');
  spec.nodeAffinity?.required?.nodeSelectorTerms?.forEach((term, index) =>
    warnings.push(...termWarnings(term, terms.index(index))),
  );
  for (const [field, { shown, why }] of PERSISTENT_VOLUMES) if (field in spec) warnings.push(`spec.${shown}: ${why}`);
  return warnings;
}

function claim(object: ApiObject): string[] {
  const { spec } = object as ApiObject & PersistentVolumeClaim;
  const path = FieldPath.of('spec', 'resources');
  return [
    ...annotated(object, CLAIM_ANNOTATIONS),
    ...fractions(spec?.resources?.requests, path.child('requests'), ['storage']),
    ...fractions(spec?.resources?.limits, path.child('limits'), ['storage']),
  ];
}

function quota(object: ApiObject, old: ApiObject | undefined): string[] {
  const { spec } = object as ApiObject & ResourceQuota;
  const hard = spec?.hard as Record<string, string | number> | undefined;
  if (hard === undefined || old !== undefined) return [];
  return ['cpu', 'memory', 'ephemeral-storage'].flatMap((name) => {
    const bare = name !== 'ephemeral-storage' && hard[`requests.${name}`] === undefined;
    const request = bare ? name : `requests.${name}`;
    const limit = `limits.${name}`;
    const [asked, limited] = [hard[request], hard[limit]];
    if (asked === undefined || limited === undefined || compareQuantities(asked, limited) <= 0) return [];
    return [`ResourceQuota ${request} (${asked}) should be less than ${limit} (${limited})`];
  });
}

function node(object: ApiObject): string[] {
  const { spec } = object as ApiObject & Node;
  return [
    ...(spec?.configSource === undefined ? [] : ['spec.configSource: the feature is removed']),
    ...(spec?.externalID ? ['spec.externalID: this field is deprecated, and is unused by Kubernetes'] : []),
    ...podCidrWarnings(object),
  ];
}

function runtimeClass(object: ApiObject): string[] {
  const { scheduling } = object as ApiObject & RuntimeClass;
  return Object.keys(scheduling?.nodeSelector ?? {}).flatMap((label) =>
    NODE_LABELS.has(label) ? [`scheduling.nodeSelector: ${NODE_LABELS.get(label)}`] : [],
  );
}

function storageClass(object: ApiObject): string[] {
  const { allowedTopologies } = object as ApiObject & StorageClass;
  return (allowedTopologies ?? []).flatMap(({ matchLabelExpressions }, at) =>
    (matchLabelExpressions ?? []).flatMap(({ key }, index) => {
      const path = `allowedTopologies[${at}].matchLabelExpressions[${index}].key`;
      return NODE_LABELS.has(key) ? [`${path}: ${NODE_LABELS.get(key)}`] : [];
    }),
  );
}

const INGRESS_CLASS = 'kubernetes.io/ingress.class';

function ingress(object: ApiObject, old: ApiObject | undefined): string[] {
  const { metadata, spec } = object as ApiObject & Ingress;
  if (old !== undefined || metadata.annotations?.[INGRESS_CLASS] === undefined) return [];
  if (spec?.ingressClassName !== undefined) return [];
  return [`annotation "${INGRESS_CLASS}" is deprecated, please use 'spec.ingressClassName' instead`];
}

function statefulSet(object: ApiObject): string[] {
  const limit = (object['spec'] as { revisionHistoryLimit?: number } | undefined)?.revisionHistoryLimit;
  if (limit === undefined || limit >= 0) return [];
  return ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended'];
}

function cronSchedule(object: ApiObject, old: ApiObject | undefined): string[] {
  const { schedule = '' } = (object['spec'] ?? {}) as { schedule?: string };
  if (old === undefined || !schedule.includes('TZ')) return [];
  return [
    'cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details',
  ];
}

function slice(object: ApiObject, old: ApiObject | undefined): string[] {
  if (old !== undefined || object['addressType'] !== 'FQDN') return [];
  return ['spec.addressType: FQDN endpoints are deprecated'];
}

const all =
  (...parts: readonly Warn[]): Warn =>
  (object, old) =>
    parts.flatMap((part) => part(object, old));

const template = ofTemplate(['spec', 'template']);
const namedTemplate = ofTemplate(['spec', 'template'], { named: true });

/** Nobody reads what is said about an update of a pod, and there are many. */
const pod: Warn = (object, old) =>
  old === undefined
    ? [...nameWarnings(object, "the Pod's hostname"), ...podWarnings(object as Template, FieldPath.root, false)]
    : [];

export const WARNINGS: Readonly<Record<string, Warn>> = {
  '/Node': node,
  '/PersistentVolume': volume,
  '/PersistentVolumeClaim': claim,
  '/Pod': pod,
  '/PodTemplate': ofTemplate(['template']),
  '/ReplicationController': namedTemplate,
  '/ResourceQuota': quota,
  '/Service': (object) => serviceWarnings(object as ApiObject & Service),
  'apps/DaemonSet': template,
  'apps/Deployment': namedTemplate,
  'apps/ReplicaSet': namedTemplate,
  'apps/StatefulSet': all(template, statefulSet),
  'batch/CronJob': all(ofTemplate(['spec', 'jobTemplate', 'spec', 'template'], { named: true }), cronSchedule),
  'batch/Job': namedTemplate,
  'discovery.k8s.io/EndpointSlice': slice,
  'networking.k8s.io/Ingress': ingress,
  'node.k8s.io/RuntimeClass': runtimeClass,
  'storage.k8s.io/StorageClass': storageClass,
};

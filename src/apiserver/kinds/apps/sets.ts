/** StatefulSet, DaemonSet and ControllerRevision. */
import type { ControllerRevision, DaemonSet, StatefulSet } from '../../../api/generated/apps-v1.ts';
import {
  FieldPath,
  forbidden,
  type Issue,
  invalid,
  notSupported,
  semanticEqual,
} from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy } from '../../registry/strategy.ts';
import {
  ageColumn,
  containerImages,
  containerNames,
  integer,
  labelsText,
  NONE,
  nameColumn,
  selectorText,
  since,
  text,
} from '../columns.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import { specOf, validateSelectorUnchanged, validateWorkload } from './workloads.ts';

const SPEC = FieldPath.of('spec');

interface UpdateStrategy {
  type?: string;
  rollingUpdate?: { partition?: number; maxUnavailable?: number | string; maxSurge?: number | string };
}

const strategyOf = (object: ApiObject): UpdateStrategy => (specOf(object)['updateStrategy'] ??= {}) as UpdateStrategy;

export const statefulSetStrategy: Strategy = {
  defaults(object) {
    const spec = specOf(object);
    spec.replicas ??= 1;
    spec['podManagementPolicy'] ||= 'OrderedReady';
    spec['revisionHistoryLimit'] ??= 10;
    const strategy = strategyOf(object);
    if (!strategy.type) {
      strategy.type = 'RollingUpdate';
      strategy.rollingUpdate ??= {};
    }
    if (strategy.type === 'RollingUpdate' && strategy.rollingUpdate) strategy.rollingUpdate.partition ??= 0;
    const retention = (spec['persistentVolumeClaimRetentionPolicy'] ??= {}) as Record<string, string>;
    retention['whenDeleted'] ||= 'Retain';
    retention['whenScaled'] ||= 'Retain';
    defaultPodTemplate(spec.template);
    for (const claim of (object as unknown as StatefulSet).spec?.volumeClaimTemplates ?? []) {
      claim.apiVersion ??= 'v1';
      claim.kind ??= 'PersistentVolumeClaim';
      claim.spec ??= {};
      claim.spec.volumeMode ??= 'Filesystem';
      claim.spec.resources ??= {};
      claim.status ??= { phase: 'Pending' };
    }
  },
  prepareForCreate(object) {
    object['status'] = { replicas: 0, availableReplicas: 0 };
  },
  validate(object) {
    const issues = validateWorkload(object);
    const policy = specOf(object)['podManagementPolicy'] as string;
    if (!['OrderedReady', 'Parallel'].includes(policy)) {
      issues.push(notSupported(SPEC.child('podManagementPolicy'), policy, ['OrderedReady', 'Parallel']));
    }
    const { type, rollingUpdate } = strategyOf(object);
    if (type !== 'OnDelete' && type !== 'RollingUpdate') {
      issues.push(invalid(SPEC.child('updateStrategy'), { type }, "must be 'RollingUpdate' or 'OnDelete'"));
    }
    if ((rollingUpdate?.partition ?? 0) < 0) {
      const at = SPEC.child('updateStrategy', 'rollingUpdate', 'partition');
      issues.push(invalid(at, rollingUpdate?.partition, 'must be greater than or equal to 0'));
    }
    return issues;
  },
  validateUpdate: validateStatefulSetUpdate,
  generation: 'spec',
  table: {
    columns: [
      nameColumn,
      text('Ready', 0, 'Pods that are ready, of those wanted'),
      ageColumn,
      text('Containers', 1, 'Names of the containers'),
      text('Images', 1, 'Images of the containers'),
    ],
    cells(object, now) {
      const { spec, status } = object as unknown as StatefulSet;
      const containers = spec?.template?.spec?.containers;
      return [
        object.metadata.name ?? '',
        `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
        since(object.metadata.creationTimestamp, now),
        containerNames(containers),
        containerImages(containers),
      ];
    },
  },
};

const MUTABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

function validateStatefulSetUpdate(object: ApiObject, old: ApiObject): Issue[] {
  const rest = (spec: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(spec).filter(([field]) => !MUTABLE.includes(field)));
  if (semanticEqual(rest(specOf(object)), rest(specOf(old)))) return [];
  const names =
    "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'";
  return [forbidden(SPEC, `updates to statefulset spec for fields other than ${names} are forbidden`)];
}

export const daemonSetStrategy: Strategy = {
  defaults(object) {
    const spec = specOf(object);
    const strategy = strategyOf(object);
    strategy.type ||= 'RollingUpdate';
    if (strategy.type === 'RollingUpdate') {
      strategy.rollingUpdate ??= {};
      strategy.rollingUpdate.maxUnavailable ??= 1;
      strategy.rollingUpdate.maxSurge ??= 0;
    }
    spec['revisionHistoryLimit'] ??= 10;
    defaultPodTemplate(spec.template);
  },
  prepareForCreate(object) {
    object['status'] = { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 };
    setTemplateGeneration(object, 1);
  },
  prepareForUpdate(object, old) {
    const before = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? 1);
    const changed = !semanticEqual(specOf(object).template, specOf(old).template);
    setTemplateGeneration(object, changed ? before + 1 : before);
  },
  validate(object) {
    const issues = validateWorkload(object);
    const { type } = strategyOf(object);
    if (type !== 'OnDelete' && type !== 'RollingUpdate') {
      issues.push(notSupported(SPEC.child('updateStrategy', 'type'), type, ['RollingUpdate', 'OnDelete']));
    }
    return issues;
  },
  validateUpdate: validateSelectorUnchanged,
  generation: 'spec',
  table: {
    columns: [
      nameColumn,
      integer('Desired', 0, 'Nodes that should run the pod'),
      integer('Current', 0, 'Nodes that run it'),
      integer('Ready', 0, 'Nodes where it is ready'),
      integer('Up-to-date', 0, 'Nodes with the current template'),
      integer('Available', 0, 'Nodes where it has been ready long enough'),
      text('Node Selector', 0, 'Which nodes'),
      ageColumn,
      text('Containers', 1, 'Names of the containers'),
      text('Images', 1, 'Images of the containers'),
      text('Selector', 1, 'Selector of the pods'),
    ],
    cells(object, now) {
      const { spec, status } = object as unknown as DaemonSet;
      const pod = spec?.template?.spec;
      return [
        object.metadata.name ?? '',
        status?.desiredNumberScheduled ?? 0,
        status?.currentNumberScheduled ?? 0,
        status?.numberReady ?? 0,
        status?.updatedNumberScheduled ?? 0,
        status?.numberAvailable ?? 0,
        labelsText(pod?.nodeSelector),
        since(object.metadata.creationTimestamp, now),
        containerNames(pod?.containers),
        containerImages(pod?.containers),
        selectorText(spec?.selector),
      ];
    },
  },
};

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

function setTemplateGeneration(object: ApiObject, generation: number): void {
  object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: String(generation) };
}

export const controllerRevisionStrategy: Strategy = {
  validate: (object) =>
    (object as unknown as ControllerRevision).revision < 0
      ? [invalid(FieldPath.of('revision'), object['revision'], 'must be greater than or equal to 0')]
      : [],
  validateUpdate: (object, old) =>
    semanticEqual(object['data'], old['data'])
      ? []
      : [invalid(FieldPath.of('data'), object['data'], 'field is immutable')],
  table: {
    columns: [nameColumn, text('Controller', 0, 'Owner'), integer('Revision', 0, 'Number of the revision'), ageColumn],
    cells(object, now) {
      const owner = object.metadata.ownerReferences?.find(({ controller }) => controller);
      return [
        object.metadata.name ?? '',
        owner ? `${owner.kind.toLowerCase()}.${owner.apiVersion.split('/')[0]}/${owner.name}` : NONE,
        Number(object['revision'] ?? 0),
        since(object.metadata.creationTimestamp, now),
      ];
    },
  },
};

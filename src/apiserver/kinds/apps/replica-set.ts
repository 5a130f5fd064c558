import type { ReplicaSet } from '../../../api/generated/apps-v1.ts';
import { FieldPath, fromLabels, invalid, type Issue, matches, required } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy, TableLayout } from '../../registry/strategy.ts';
import {
  ageColumn,
  containerImages,
  containerNames,
  integer,
  labelsText,
  nameColumn,
  selectorText,
  since,
  text,
} from '../columns.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import { validatePodTemplate } from '../core/pod-validation.ts';
import { nonNegative, specOf, validateSelectorUnchanged, validateWorkload } from './workloads.ts';

const asReplicaSet = (object: ApiObject): ReplicaSet => object as unknown as ReplicaSet;
const SPEC = FieldPath.of('spec');

function replicaTable(selector: (object: ApiObject) => string): TableLayout {
  return {
    columns: [
      nameColumn,
      integer('Desired', 0, 'Pods wanted'),
      integer('Current', 0, 'Pods that exist'),
      integer('Ready', 0, 'Pods that are ready'),
      ageColumn,
      text('Containers', 1, 'Names of the containers'),
      text('Images', 1, 'Images of the containers'),
      text('Selector', 1, 'Selector of the pods'),
    ],
    cells(object, now) {
      const { spec, status } = asReplicaSet(object);
      return [
        object.metadata.name ?? '',
        spec?.replicas ?? 0,
        status?.replicas ?? 0,
        status?.readyReplicas ?? 0,
        since(object.metadata.creationTimestamp, now),
        containerNames(spec?.template?.spec?.containers),
        containerImages(spec?.template?.spec?.containers),
        selector(object),
      ];
    },
  };
}

export const replicaSetStrategy: Strategy = {
  defaults(object) {
    const spec = specOf(object);
    spec.replicas ??= 1;
    defaultPodTemplate(spec.template);
  },
  prepareForCreate(object) {
    object['status'] = { replicas: 0 };
  },
  validate: validateWorkload,
  validateUpdate: validateSelectorUnchanged,
  generation: 'spec',
  fields: (object) => ({ 'status.replicas': String(asReplicaSet(object).status?.replicas ?? 0) }),
  table: replicaTable((object) => selectorText(asReplicaSet(object).spec?.selector)),
};

export const replicationControllerStrategy: Strategy = {
  ...replicaSetStrategy,
  defaults(object) {
    const spec = specOf(object);
    spec.replicas ??= 1;
    defaultPodTemplate(spec.template);
    const labels = spec.template?.metadata?.labels ?? {};
    const selector = (spec.selector ?? {}) as Record<string, string>;
    if (Object.keys(selector).length === 0 && Object.keys(labels).length > 0) {
      spec.selector = { ...labels } as unknown as NonNullable<typeof spec.selector>;
    }
    if (Object.keys(object.metadata.labels ?? {}).length === 0 && Object.keys(labels).length > 0) {
      object.metadata.labels = { ...labels };
    }
  },
  validate(object): Issue[] {
    const spec = specOf(object);
    const selector = (spec.selector ?? {}) as Record<string, string>;
    const issues = nonNegative(spec.replicas, SPEC.child('replicas'));
    if (Object.keys(selector).length === 0) issues.push(required(SPEC.child('selector')));
    else if (!matches(fromLabels(selector), spec.template?.metadata?.labels)) {
      issues.push(
        invalid(
          SPEC.child('template', 'metadata', 'labels'),
          spec.template?.metadata?.labels ?? {},
          '`selector` does not match template `labels`',
        ),
      );
    }
    issues.push(...validatePodTemplate(spec.template, SPEC.child('template'), { restartPolicies: ['Always'] }));
    return issues;
  },
  validateUpdate: () => [],
  garbageCollection: 'Orphan',
  table: replicaTable((object) => labelsText(specOf(object).selector as unknown as Record<string, string>)),
};

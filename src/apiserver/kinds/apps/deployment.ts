import type { Deployment } from '../../../api/generated/apps-v1.ts';
import {
  FieldPath,
  forbidden,
  invalid,
  type Issue,
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
  nameColumn,
  selectorText,
  since,
  text,
} from '../columns.ts';
import { defaultPodTemplate } from '../core/pod-defaults.ts';
import { nonNegative, specOf, validateSelectorUnchanged, validateWorkload, validIntOrPercent } from './workloads.ts';

const asDeployment = (object: ApiObject): Deployment => object as unknown as Deployment;
const SPEC = FieldPath.of('spec');

interface RollingUpdate {
  maxUnavailable?: number | string;
  maxSurge?: number | string;
}

export const deploymentStrategy: Strategy = {
  defaults(object) {
    const spec = specOf(object);
    spec.replicas ??= 1;
    const strategy = ((spec['strategy'] as object | undefined) ??= {}) as {
      type?: string;
      rollingUpdate?: RollingUpdate;
    };
    spec['strategy'] = strategy;
    strategy.type ||= 'RollingUpdate';
    if (strategy.type === 'RollingUpdate') {
      strategy.rollingUpdate ??= {};
      strategy.rollingUpdate.maxUnavailable ??= '25%';
      strategy.rollingUpdate.maxSurge ??= '25%';
    }
    spec['revisionHistoryLimit'] ??= 10;
    spec['progressDeadlineSeconds'] ??= 600;
    defaultPodTemplate(spec.template);
  },
  prepareForCreate(object) {
    object['status'] = {};
  },
  prepareForStatusUpdate(object, old) {
    if (old.metadata.labels === undefined) delete object.metadata.labels;
    else object.metadata.labels = old.metadata.labels;
  },
  validate: (object) => [...validateWorkload(object), ...validateStrategy(object)],
  validateUpdate: validateSelectorUnchanged,
  // Annotations count too: clients wait for the controller to have seen them.
  generation: (object, old) =>
    !semanticEqual(object['spec'], old['spec']) ||
    !semanticEqual(object.metadata.annotations ?? {}, old.metadata.annotations ?? {}),
  table: {
    columns: [
      nameColumn,
      text('Ready', 0, 'Pods that are ready, of those wanted'),
      integer('Up-to-date', 0, 'Pods made from the current template'),
      integer('Available', 0, 'Pods that have been ready long enough'),
      ageColumn,
      text('Containers', 1, 'Names of the containers'),
      text('Images', 1, 'Images of the containers'),
      text('Selector', 1, 'Selector of the pods'),
    ],
    cells(object, now) {
      const { spec, status } = asDeployment(object);
      return [
        object.metadata.name ?? '',
        `${status?.readyReplicas ?? 0}/${spec?.replicas ?? 0}`,
        status?.updatedReplicas ?? 0,
        status?.availableReplicas ?? 0,
        since(object.metadata.creationTimestamp, now),
        containerNames(spec?.template?.spec?.containers),
        containerImages(spec?.template?.spec?.containers),
        selectorText(spec?.selector),
      ];
    },
  },
};

function validateStrategy(object: ApiObject): Issue[] {
  const spec = specOf(object);
  const strategy = spec['strategy'] as { type?: string; rollingUpdate?: RollingUpdate } | undefined;
  const path = SPEC.child('strategy');
  const issues = [
    ...nonNegative(spec['revisionHistoryLimit'], SPEC.child('revisionHistoryLimit')),
    ...nonNegative(spec['progressDeadlineSeconds'], SPEC.child('progressDeadlineSeconds')),
  ];
  const deadline = spec['progressDeadlineSeconds'] as number | undefined;
  if (deadline !== undefined && deadline <= (spec.minReadySeconds ?? 0)) {
    issues.push(invalid(SPEC.child('progressDeadlineSeconds'), deadline, 'must be greater than minReadySeconds'));
  }
  switch (strategy?.type) {
    case 'Recreate':
      if (strategy.rollingUpdate) {
        issues.push(forbidden(path.child('rollingUpdate'), "may not be specified when strategy `type` is 'Recreate'"));
      }
      break;
    case 'RollingUpdate': {
      const rolling = path.child('rollingUpdate');
      const { maxUnavailable, maxSurge } = strategy.rollingUpdate ?? {};
      issues.push(...validIntOrPercent(maxUnavailable, rolling.child('maxUnavailable')));
      issues.push(...validIntOrPercent(maxSurge, rolling.child('maxSurge')));
      const zero = (value: unknown) => value === 0 || value === '0%';
      if (zero(maxUnavailable) && zero(maxSurge)) {
        issues.push(invalid(rolling.child('maxUnavailable'), maxUnavailable, 'may not be 0 when `maxSurge` is 0'));
      }
      break;
    }
    default:
      issues.push(notSupported(path.child('type'), strategy?.type, ['Recreate', 'RollingUpdate']));
  }
  return issues;
}

import {
  countTemplateGeneration,
  defaultDaemonSet,
  validateDaemonSet,
  validateDaemonSetStatus,
  validateDaemonSetUpdate,
} from '../../../api/apps/index.ts';
import type { DaemonSet } from '../../../api/generated/apps-v1.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy } from '../../registry/strategy.ts';
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
import { checkTemplate } from './template-check.ts';

const asSet = (object: ApiObject): DaemonSet => object as unknown as DaemonSet;

export const daemonSetStrategy: Strategy = {
  defaults(object) {
    const set = asSet(object);
    defaultDaemonSet(set);
    defaultPodTemplate(set.spec?.template);
  },
  prepareForCreate(object) {
    object['status'] = {
      currentNumberScheduled: 0,
      numberMisscheduled: 0,
      desiredNumberScheduled: 0,
      numberReady: 0,
    };
    countTemplateGeneration(asSet(object), undefined);
  },
  prepareForUpdate: (object, old) => countTemplateGeneration(asSet(object), asSet(old)),
  validate: (object) => validateDaemonSet(asSet(object), checkTemplate),
  validateUpdate: (object, old) => validateDaemonSetUpdate(asSet(object), asSet(old), checkTemplate),
  validateStatusUpdate: (object, old) => validateDaemonSetStatus(asSet(object), asSet(old)),
  generation: 'spec',
  table: {
    columns: [
      nameColumn,
      integer('Desired', 0, 'Nodes that should run a pod'),
      integer('Current', 0, 'Nodes that have one'),
      integer('Ready', 0, 'Nodes whose pod is ready'),
      integer('Up-to-date', 0, 'Nodes whose pod is made from the current template'),
      integer('Available', 0, 'Nodes whose pod has been ready long enough'),
      text('Node Selector', 0, 'Labels of the nodes it is for'),
      ageColumn,
      text('Containers', 1, 'Names of the containers'),
      text('Images', 1, 'Images of the containers'),
      text('Selector', 1, 'Selector of the pods'),
    ],
    cells(object, now) {
      const { spec, status } = asSet(object);
      return [
        object.metadata.name ?? '',
        status?.desiredNumberScheduled ?? 0,
        status?.currentNumberScheduled ?? 0,
        status?.numberReady ?? 0,
        status?.updatedNumberScheduled ?? 0,
        status?.numberAvailable ?? 0,
        labelsText(spec?.template?.spec?.nodeSelector),
        since(object.metadata.creationTimestamp, now),
        containerNames(spec?.template?.spec?.containers),
        containerImages(spec?.template?.spec?.containers),
        selectorText(spec?.selector),
      ];
    },
  },
};

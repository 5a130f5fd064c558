import {
  type SchedulingVersion,
  type StoredWorkload,
  validateWorkload,
  validateWorkloadUpdate,
} from '../../../api/scheduling/index.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { ageColumn, integer, nameColumn, orNone, since, text } from '../columns.ts';

export const workloadStrategy = strategyOf<StoredWorkload>({
  prepareForCreate(object) {
    delete (object as { status?: unknown }).status;
  },
  validate: (object, version) => validateWorkload(object, version as SchedulingVersion),
  validateUpdate: (object, old, version) => validateWorkloadUpdate(object, old, version as SchedulingVersion),
  storedOnly: ['draftList'],
  generation: 'spec',
  table: {
    columns: [
      nameColumn,
      integer('Templates', 0, 'Kinds of pod groups it describes'),
      text('Pod Groups', 0, 'Names of the templates, with the pods each needs'),
      text('Controller', 0, 'The object it stands for'),
      ageColumn,
    ],
    cells(object, now) {
      const { metadata, spec } = object;
      const { controllerRef } = spec;
      const names = [
        ...(spec.podGroupTemplates ?? []).map(({ name, schedulingPolicy: { gang } }) =>
          gang === undefined ? name : `${name}(${gang.minCount})`,
        ),
        ...(spec.compositePodGroupTemplates ?? []).map(({ name }) => name),
      ];
      return [
        metadata.name ?? '',
        names.length,
        orNone(names.join(',')),
        orNone(controllerRef && `${controllerRef.kind}/${controllerRef.name}`),
        since(metadata.creationTimestamp, now),
      ];
    },
  },
});

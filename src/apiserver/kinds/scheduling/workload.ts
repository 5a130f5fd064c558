import {
  type SchedulingVersion,
  type StoredWorkload,
  validateWorkload,
  validateWorkloadUpdate,
} from '../../../api/scheduling/index.ts';
import { ageColumn, integer, nameColumn, orNone, table, text } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';

export const workloadStrategy = strategyOf<StoredWorkload>({
  prepareForCreate(object) {
    delete (object as { status?: unknown }).status;
  },
  validate: (object, version) => validateWorkload(object, version as SchedulingVersion),
  validateUpdate: (object, old, version) => validateWorkloadUpdate(object, old, version as SchedulingVersion),
  storedOnly: ['draftList'],
  generation: 'spec',
  table: table([
    nameColumn,
    integer('Templates', 'Kinds of pod groups it describes', (object) => templateNames(object).length),
    text('Pod Groups', 'Names of the templates, with the pods each needs', (object) =>
      orNone(templateNames(object).join(',')),
    ),
    text('Controller', 'The object it stands for', ({ spec: { controllerRef } }) =>
      orNone(controllerRef && `${controllerRef.kind}/${controllerRef.name}`),
    ),
    ageColumn,
  ]),
});

const templateNames = ({ spec }: StoredWorkload): string[] => [
  ...(spec.podGroupTemplates ?? []).map(({ name, schedulingPolicy: { gang } }) =>
    gang === undefined ? name : `${name}(${gang.minCount})`,
  ),
  ...(spec.compositePodGroupTemplates ?? []).map(({ name }) => name),
];

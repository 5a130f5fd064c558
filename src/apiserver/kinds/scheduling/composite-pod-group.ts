import type { CompositePodGroup } from '../../../api/generated/scheduling-v1alpha3.ts';
import { defaultComposite, validateComposite, validateCompositeUpdate } from '../../../api/scheduling/index.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { ageColumn, integer, nameColumn, orNone, since, text } from '../columns.ts';

/** A group of groups. Nothing protects it: its groups, which hold the pods, protect themselves. */
export const compositePodGroupStrategy = strategyOf<CompositePodGroup>({
  defaults: (object) => defaultComposite(object),
  prepareForCreate(object) {
    delete object['status'];
  },
  validate: (object) => validateComposite(object),
  validateUpdate: (object, old) => validateCompositeUpdate(object, old),
  generation: 'spec',
  table: {
    columns: [
      nameColumn,
      text('Policy', 0, 'How its groups are scheduled'),
      integer('Min Groups', 0, 'Groups that must be scheduled together'),
      text('Parent', 0, 'The group of groups it belongs to'),
      text('Disruption', 0, 'Whether it is disrupted group by group or as a whole'),
      text('Workload', 1, 'The Workload it is made from'),
      ageColumn,
    ],
    cells({ metadata, spec }, now) {
      const gang = spec?.schedulingPolicy.gang;
      return [
        metadata.name ?? '',
        gang === undefined ? 'Basic' : 'Gang',
        gang?.minGroupCount ?? null,
        orNone(spec?.parentCompositePodGroupName),
        spec?.disruptionMode?.all === undefined ? 'Single' : 'All',
        orNone(spec?.workloadRef?.workloadName),
        since(metadata.creationTimestamp, now),
      ];
    },
  },
});

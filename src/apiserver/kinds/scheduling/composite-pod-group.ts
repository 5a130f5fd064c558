import type { CompositePodGroup } from '../../../api/generated/scheduling-v1alpha3.ts';
import { defaultComposite, validateComposite, validateCompositeUpdate } from '../../../api/scheduling/index.ts';
import { ageColumn, integer, nameColumn, orNone, table, text, wide } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';

/** A group of groups. Nothing protects it: its groups, which hold the pods, protect themselves. */
export const compositePodGroupStrategy = strategyOf<CompositePodGroup>({
  defaults: (object) => defaultComposite(object),
  prepareForCreate(object) {
    delete object['status'];
  },
  validate: (object) => validateComposite(object),
  validateUpdate: (object, old) => validateCompositeUpdate(object, old),
  generation: 'spec',
  table: table([
    nameColumn,
    text('Policy', 'How its groups are scheduled', ({ spec }) =>
      spec?.schedulingPolicy.gang === undefined ? 'Basic' : 'Gang',
    ),
    integer(
      'Min Groups',
      'Groups that must be scheduled together',
      ({ spec }) => spec?.schedulingPolicy.gang?.minGroupCount ?? null,
    ),
    text('Parent', 'The group of groups it belongs to', ({ spec }) => orNone(spec?.parentCompositePodGroupName)),
    text('Disruption', 'Whether it is disrupted group by group or as a whole', ({ spec }) =>
      spec?.disruptionMode?.all === undefined ? 'Single' : 'All',
    ),
    wide(text('Workload', 'The Workload it is made from', ({ spec }) => orNone(spec?.workloadRef?.workloadName))),
    ageColumn,
  ]),
});

import type { PriorityClass } from '../../../api/generated/scheduling-v1.ts';
import { FieldPath, forbidden, invalid, type Issue, notSupported } from '../../../machinery/values/index.ts';
import { ageColumn, flag, integer, nameColumn, table, text, wide } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';

const HIGHEST_PRIORITY = 1_000_000_000;
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-node-critical': 2_000_001_000,
  'system-cluster-critical': 2_000_000_000,
};
const POLICIES = ['Never', 'PreemptLowerPriority'];

export const priorityClassStrategy = strategyOf<PriorityClass>({
  defaults(object) {
    object.preemptionPolicy ??= 'PreemptLowerPriority';
    object.value ??= 0;
  },
  validate: (object) => validatePriorityClass(object),
  validateUpdate(object, old) {
    const issues: Issue[] = [];
    if (object.value !== old.value) issues.push(forbidden(FieldPath.of('value'), 'may not be changed in an update.'));
    if (object.preemptionPolicy !== old.preemptionPolicy) {
      issues.push(invalid(FieldPath.of('preemptionPolicy'), object.preemptionPolicy, 'field is immutable'));
    }
    return issues;
  },
  generation: (object, old) => JSON.stringify({ ...object, metadata: 0 }) !== JSON.stringify({ ...old, metadata: 0 }),
  table: table([
    nameColumn,
    integer('Value', 'Pods of higher values come first', ({ value = 0 }) => value),
    flag('Global-Default', 'Given to pods that name no class', ({ globalDefault = false }) => globalDefault),
    ageColumn,
    wide(
      text('PreemptionPolicy', 'Whether its pods may remove others', ({ preemptionPolicy = '' }) => preemptionPolicy),
    ),
  ]),
});

/** System classes have fixed values, and no other class may look like one. */
function validatePriorityClass({ globalDefault, metadata, preemptionPolicy, value = 0 }: PriorityClass): Issue[] {
  const issues: Issue[] = [];
  const name = metadata.name ?? '';
  if (name.startsWith('system-')) {
    const fixed = SYSTEM_CLASSES[name];
    if (fixed === undefined) {
      const detail = "priority class names with 'system-' prefix are reserved for system use only. error: ";
      issues.push(forbidden(FieldPath.of('metadata', 'name'), `${detail}${name} is not a known system priority class`));
    } else if (fixed !== value || globalDefault) {
      issues.push(forbidden(FieldPath.of('metadata', 'name'), `value of ${name} PriorityClass must be ${fixed}`));
    }
  } else if (value > HIGHEST_PRIORITY) {
    issues.push(
      forbidden(FieldPath.of('value'), `maximum allowed value of a user defined priority is ${HIGHEST_PRIORITY}`),
    );
  }
  if (preemptionPolicy !== undefined && !POLICIES.includes(preemptionPolicy)) {
    issues.push(notSupported(FieldPath.of('preemptionPolicy'), preemptionPolicy, POLICIES));
  }
  return issues;
}

import type { PodDisruptionBudget } from '../../../api/generated/policy-v1.ts';
import {
  budgetFromV1beta1,
  budgetToV1beta1,
  normalizeSelector,
  validateBudget,
  validateBudgetStatus,
} from '../../../api/policy/index.ts';
import { semanticEqual } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../object.ts';
import type { Strategy } from '../../registry/strategy.ts';
import { ageColumn, nameColumn, since, text } from '../columns.ts';

const budgetOf = (object: ApiObject): PodDisruptionBudget => object as unknown as PodDisruptionBudget;

/** Every field of the spec may change; nothing is defaulted; the optimistic lock is not optional. */
export const podDisruptionBudgetStrategy: Strategy = {
  prepareForCreate(object) {
    keepSelector(object);
    object['status'] = { ...EMPTY_STATUS };
  },
  prepareForUpdate: keepSelector,
  prepareForStatusUpdate(object) {
    object['status'] = { ...EMPTY_STATUS, ...(object['status'] as object | undefined) };
  },
  validate: (object) => validateBudget(budgetOf(object)),
  validateUpdate: (object, old) => validateBudget(budgetOf(object), budgetOf(old)),
  validateStatusUpdate: (object, _old, version) => validateBudgetStatus(budgetOf(object), version),
  generation: (object, old) => !sameSpec(budgetOf(object), budgetOf(old)),
  unconditionalUpdate: false,
  table: {
    columns: [
      nameColumn,
      text('Min Available', 0, 'Pods (or pod groups) that must stay available'),
      text('Max Unavailable', 0, 'Pods (or pod groups) that may be unavailable'),
      { name: 'Allowed Disruptions', type: 'integer', description: 'How many may be disrupted now' },
      ageColumn,
    ],
    cells(object, now) {
      const { metadata, spec, status } = budgetOf(object);
      return [
        metadata.name ?? '',
        String(spec?.minAvailable ?? 'N/A'),
        String(spec?.maxUnavailable ?? 'N/A'),
        status?.disruptionsAllowed ?? 0,
        since(metadata.creationTimestamp, now),
      ];
    },
  },
};

/** policy/v1beta1, whose empty selector means nothing instead of everything. */
export const budgetConversion = {
  toStored: (object: ApiObject): ApiObject => budgetFromV1beta1(budgetOf(object)) as unknown as ApiObject,
  fromStored: (object: ApiObject): ApiObject => budgetToV1beta1(budgetOf(object)) as unknown as ApiObject,
};

/** The counters are written even when they are zero. */
const EMPTY_STATUS = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };

function keepSelector(object: ApiObject): void {
  object['spec'] = normalizeSelector(budgetOf(object)).spec ?? {};
}

/** A null selector selects nothing and `{}` everything, so these two differ although both look empty. */
function sameSpec(a: PodDisruptionBudget, b: PodDisruptionBudget): boolean {
  const hasSelector = ({ spec }: PodDisruptionBudget): boolean =>
    spec?.selector !== undefined && spec.selector !== null;
  return hasSelector(a) === hasSelector(b) && semanticEqual(a.spec, b.spec);
}

import type { PodDisruptionBudget } from '../../../api/generated/policy-v1.ts';
import {
  budgetFromV1beta1,
  budgetToV1beta1,
  normalizeSelector,
  validateBudget,
  validateBudgetStatus,
} from '../../../api/policy/index.ts';
import { semanticEqual } from '../../../machinery/values/index.ts';
import type { ApiObject } from '../../exchange/object.ts';
import { ageColumn, integer, nameColumn, table, text } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';

/** Every field of the spec may change; nothing is defaulted; the optimistic lock is not optional. */
export const podDisruptionBudgetStrategy = strategyOf<PodDisruptionBudget>({
  prepareForCreate(object) {
    keepSelector(object);
    object.status = { ...EMPTY_STATUS };
  },
  prepareForUpdate: keepSelector,
  prepareForStatusUpdate(object) {
    object.status = { ...EMPTY_STATUS, ...object.status };
  },
  validate: (object) => validateBudget(object),
  validateUpdate: (object, old) => validateBudget(object, old),
  validateStatusUpdate: (object, _old, version) => validateBudgetStatus(object, version),
  generation: (object, old) => !sameSpec(object, old),
  unconditionalUpdate: false,
  table: table([
    nameColumn,
    text('Min Available', 'Pods (or pod groups) that must stay available', ({ spec }) =>
      String(spec?.minAvailable ?? 'N/A'),
    ),
    text('Max Unavailable', 'Pods (or pod groups) that may be unavailable', ({ spec }) =>
      String(spec?.maxUnavailable ?? 'N/A'),
    ),
    integer('Allowed Disruptions', 'How many may be disrupted now', ({ status }) => status?.disruptionsAllowed ?? 0),
    ageColumn,
  ]),
});

/** policy/v1beta1, whose empty selector means nothing instead of everything. */
export const budgetConversion = {
  toStored: (object: ApiObject): ApiObject => budgetFromV1beta1(object) as ApiObject,
  fromStored: (object: ApiObject): ApiObject => budgetToV1beta1(object) as ApiObject,
};

/** The counters are written even when they are zero. */
const EMPTY_STATUS = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };

function keepSelector(object: PodDisruptionBudget): void {
  object.spec = normalizeSelector(object).spec ?? {};
}

/** A null selector selects nothing and `{}` everything, so these two differ although both look empty. */
function sameSpec(a: PodDisruptionBudget, b: PodDisruptionBudget): boolean {
  const hasSelector = ({ spec }: PodDisruptionBudget): boolean =>
    spec?.selector !== undefined && spec.selector !== null;
  return hasSelector(a) === hasSelector(b) && semanticEqual(a.spec, b.spec);
}

import type { Pod } from '../../api/generated/core-v1.ts';
import {
  DEPRECATED_RELATED_PUB_ANNOTATION,
  type PodUnavailableBudget,
  type ProtectedOperation,
  RELATED_PUB_ANNOTATION,
} from '../../api/kruise/types.ts';
import {
  validateNoConflict,
  validatePodUnavailableBudget,
  validatePodUnavailableBudgetUpdate,
} from '../../api/kruise/validation.ts';
import { classifyUpdate, closedGate, isUnseenByKruise, relatedBudgetOf } from '../../decisions/unavailability/index.ts';
import { formatIssues, type Issue } from '../../machinery/values/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../context/admission-plugin.ts';
import { failure } from '../exchange/status.ts';
import { type Guarding, judgeRequest } from './judge-request.ts';

/** Guards deletes, updates and resizes of pods; evictions are asked of the guard. */
export function podGuardPlugin(guarding: Guarding): AdmissionPlugin {
  return {
    name: 'PodUnavailableBudget',
    handles: ({ operation, resource, subresource }) =>
      resource.group === '' &&
      resource.plural === 'pods' &&
      ((operation === 'DELETE' && subresource === undefined) ||
        (operation === 'UPDATE' && (subresource === undefined || subresource === 'resize'))),
    inTransaction(attributes, transaction) {
      const old = attributes.oldObject as Pod | undefined;
      const operation = old === undefined ? undefined : operationOf(guarding, attributes, old);
      if (old === undefined || operation === undefined) return;
      const { dryRun, namespace = '', user } = attributes;
      // An update is judged by the pod as it was: it must not vote itself out.
      const request = { namespace, pod: old, operation, dryRun, username: user.username };
      const judged = judgeRequest(guarding, request, transaction);
      if (!judged.allowed) throw judged.refusal;
      if (!attributes.dryRun) judged.charge(transaction);
    },
  };
}

function operationOf(
  { compat, view }: Guarding,
  attributes: AdmissionAttributes,
  old: Pod,
): ProtectedOperation | undefined {
  if (attributes.operation === 'DELETE') return 'DELETE';
  const pod = attributes.object as Pod;
  if (compat && isUnseenByKruise(pod, attributes.subresource)) return undefined;
  const keys = view
    .of(attributes.namespace ?? '')
    .judging(old.metadata.name ?? '')
    .flatMap(({ budget }) => budget.spec?.podGroupPolicy?.groupLabelKey ?? []);
  return classifyUpdate(pod, old, keys);
}

/** Writes on every new pod which budget it belongs to. Readers go by it; so do decisions in compatibility mode. */
export function relatedBudgetPlugin({ view }: Pick<Guarding, 'view'>): AdmissionPlugin {
  return {
    name: 'PodUnavailableBudgetRelated',
    handles: ({ operation, resource, subresource }) =>
      operation === 'CREATE' && resource.group === '' && resource.plural === 'pods' && subresource === undefined,
    admit({ namespace = '', object }) {
      const pod = object as Pod;
      if (relatedBudgetOf(pod) !== undefined) return;
      const name = view.relatedTo(namespace, pod);
      if (name === undefined) return;
      const related = { [RELATED_PUB_ANNOTATION]: name, [DEPRECATED_RELATED_PUB_ANNOTATION]: name };
      pod.metadata.annotations = { ...pod.metadata.annotations, ...related };
    },
  };
}

/** Checks budgets as they are written. Refusals are 400, as clients of PodUnavailableBudget know them. */
export function budgetValidationPlugin({ gates, view }: Pick<Guarding, 'gates' | 'view'>): AdmissionPlugin {
  return {
    name: 'PodUnavailableBudgetValidation',
    handles: ({ operation, resource, subresource }) =>
      resource.group === 'policy.kruise.io' &&
      resource.plural === 'podunavailablebudgets' &&
      // Those of other software are checked by that software.
      resource.yields !== undefined &&
      subresource === undefined &&
      (operation === 'CREATE' || operation === 'UPDATE'),
    inTransaction({ namespace = '', object, oldObject }) {
      const budget = object as PodUnavailableBudget;
      const closed = closedGate(budget.spec ?? {}, gates);
      if (closed !== undefined) throw failure(400, 'BadRequest', closed);
      const old = oldObject as PodUnavailableBudget | undefined;
      const issues =
        old === undefined ? validatePodUnavailableBudget(budget) : validatePodUnavailableBudgetUpdate(budget, old);
      if (issues.length === 0) issues.push(...validateNoConflict(budget, othersOf(view, namespace)));
      if (issues.length > 0) throw refusal(budget, issues);
    },
  };
}

function othersOf(view: Guarding['view'], namespace: string): PodUnavailableBudget[] {
  return [...view.of(namespace).budgets()].map(({ budget }) => budget);
}

function refusal(budget: PodUnavailableBudget, issues: readonly Issue[]): Error {
  const message = `PodUnavailableBudget.policy.kruise.io "${budget.metadata.name}" is invalid: ${formatIssues(issues)}`;
  const causes = issues.map(({ message: text, path, rule }) => ({ reason: rule, message: text, field: path }));
  return failure(400, 'BadRequest', message, { details: { name: budget.metadata.name ?? '', causes } });
}

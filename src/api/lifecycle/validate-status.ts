import { FieldPath, invalid, type Issue, semanticEqual, tooMany } from '../../machinery/values/index.ts';
import type { Eviction, EvictionRequest, Requester } from '../generated/lifecycle-v1alpha1.ts';
import type { Condition } from '../generated/meta-v1.ts';
import { validateConditions } from '../policy/validate-conditions.ts';
import { duplicateNames } from './duplicates.ts';
import { validateKey } from './keys.ts';
import { FAILED, MAX_CONDITIONS, MAX_REQUESTERS, TARGET_EVICTED } from './types.ts';
import { validateResponders } from './validate-responders.ts';
import { validateIntent } from './validate-spec.ts';
import { validateTargetResponders } from './validate-target-responders.ts';

const STATUS = FieldPath.of('status');
const CONDITIONS = STATUS.child('conditions');

export const isTrue = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;

/** What is wrong with the status of a request. Its conditions may go back: a request can be made again. */
export function validateEvictionRequestStatus({ status }: EvictionRequest, old: EvictionRequest): Issue[] {
  return [
    ...validateGeneration(status?.observedGeneration, old.status?.observedGeneration),
    ...validateConditionList(status?.conditions, old.status?.conditions),
  ];
}

/**
 * What is wrong with the status of an Eviction. Several write it who need not trust each other, so that what its
 * controller may do, and each responder, is all spelled out here.
 */
export function validateEvictionStatus(eviction: Eviction, old: Eviction, now: number): Issue[] {
  const status = eviction.status ?? {};
  const before = old.status ?? {};
  const issues = [
    ...validateGeneration(status.observedGeneration, before.observedGeneration),
    ...validateConditionList(status.conditions, before.conditions),
    ...validateRequesters(status.requesters ?? [], before.requesters ?? []),
  ];
  const final = { [TARGET_EVICTED]: false, [FAILED]: false };
  for (const type of [TARGET_EVICTED, FAILED] as const) {
    final[type] = isTrue(status.conditions, type);
    const was = before.conditions?.find((condition) => condition.type === type);
    if (was?.status !== 'True') continue;
    const is = status.conditions?.find((condition) => condition.type === type);
    if (is !== undefined && is.status !== 'False' && is.reason === was.reason) continue;
    issues.push(invalid(CONDITIONS, status.conditions ?? [], `${type} condition status cannot be reverted`));
    final[type] = true;
  }
  const isFinal = final[TARGET_EVICTED] || final[FAILED];
  issues.push(...validateTargetResponders(status, before, { path: STATUS.child('targetResponders'), now, isFinal }));
  issues.push(...validateResponders(status, before, { path: STATUS.child('responders'), now }));
  return issues;
}

function validateGeneration(value: number | undefined, old: number | undefined): Issue[] {
  const path = STATUS.child('observedGeneration');
  if (value === old) return [];
  if (value === undefined) return [invalid(path, null, 'field cannot be cleared once set')];
  const issues = value < 1 ? [invalid(path, value, 'must be greater than or equal to 1')] : [];
  if (old !== undefined && value < old) issues.push(invalid(path, value, `may not be decreased from ${old}`));
  return issues;
}

function validateConditionList(
  conditions: readonly Condition[] | undefined = [],
  old: readonly Condition[] | undefined = [],
): Issue[] {
  if (conditions.length > MAX_CONDITIONS && !semanticEqual(conditions, old)) {
    return [tooMany(CONDITIONS, conditions.length, MAX_CONDITIONS)];
  }
  return validateConditions(CONDITIONS, conditions);
}

function validateRequesters(requesters: readonly Requester[], old: readonly Requester[]): Issue[] {
  const path = STATUS.child('requesters');
  if (semanticEqual(requesters, old)) return [];
  if (requesters.length > MAX_REQUESTERS) return [tooMany(path, requesters.length, MAX_REQUESTERS)];
  const issues = duplicateNames(path, requesters);
  for (const [at, { intent, name }] of requesters.entries()) {
    if (old.some((one) => one.name === name && one.intent === intent)) continue;
    issues.push(...validateKey(path.index(at).child('name'), name));
    issues.push(...validateIntent(path.index(at).child('intent'), intent));
  }
  return issues;
}

import {
  checkQualifiedName,
  duplicate,
  type FieldPath,
  invalid,
  type Issue,
  notSupported,
  parseTime,
  required,
  tooLong,
  validateName,
} from '../../machinery/values/index.ts';
import type { Condition } from '../generated/meta-v1.ts';

const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const REASON_TEXT =
  "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
const REASON_BYTES = 1024;
const MESSAGE_BYTES = 32_768;
const STATUSES = ['False', 'True', 'Unknown'];

/** The rules of `metav1.Condition` lists. */
export function validateConditions(path: FieldPath, conditions: readonly Condition[] | null | undefined): Issue[] {
  const issues: Issue[] = [];
  const seen = new Set<string>();
  for (const [at, condition] of (conditions ?? []).entries()) {
    const { lastTransitionTime, observedGeneration = 0, status } = condition;
    // Decoded JSON, so what the type calls required may be missing.
    const [type, reason, message] = [condition.type, condition.reason, condition.message].map(orEmpty) as [
      string,
      string,
      string,
    ];
    const here = path.index(at);
    if (seen.has(type)) issues.push(duplicate(here.child('type'), type));
    seen.add(type);
    issues.push(...validateName(here.child('type'), type, checkQualifiedName));
    if (!STATUSES.includes(status)) issues.push(notSupported(here.child('status'), orEmpty(status), STATUSES));
    if (observedGeneration < 0) {
      issues.push(
        invalid(here.child('observedGeneration'), observedGeneration, 'must be greater than or equal to zero'),
      );
    }
    if (parseTime(lastTransitionTime) === undefined) issues.push(required(here.child('lastTransitionTime')));
    if (reason === '') issues.push(required(here.child('reason')));
    else {
      if (!REASON.test(reason)) issues.push(invalid(here.child('reason'), reason, REASON_TEXT));
      if (reason.length > REASON_BYTES) issues.push(tooLong(here.child('reason'), REASON_BYTES));
    }
    if (message.length > MESSAGE_BYTES) issues.push(tooLong(here.child('message'), MESSAGE_BYTES));
  }
  return issues;
}

function orEmpty(value: string | undefined): string {
  return value ?? '';
}

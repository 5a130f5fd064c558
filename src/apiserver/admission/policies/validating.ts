/** ValidatingAdmissionPolicy: expressions that must hold. */
import type {
  Validation,
  ValidatingAdmissionPolicyBindingSpec,
  ValidatingAdmissionPolicySpec,
} from '../../../api/generated/admissionregistration-v1.ts';
import { type AdmissionAttributes, type AdmissionPlugin, refusedName } from '../../context/admission-plugin.ts';
import { messageText } from '../../cel/message.ts';
import type { ServerContext } from '../../context/server-context.ts';
import { ApiError, forbidden } from '../../exchange/status.ts';
import { converting } from '../../stored/converting.ts';
import { PolicyFailure, PolicySource, run } from './source.ts';

type Source = PolicySource<ValidatingAdmissionPolicySpec, ValidatingAdmissionPolicyBindingSpec>;

const CODES: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  Invalid: 422,
  RequestEntityTooLarge: 413,
};

export function validatingPolicies(context: ServerContext): AdmissionPlugin & { stop(): void } {
  const source: Source = new PolicySource(context, 'validating');
  return {
    name: 'ValidatingAdmissionPolicy',
    handles: (attributes) => source.applies(attributes),
    validate: (attributes) => converting(() => decide(source, attributes)),
    stop: () => source.stop(),
  };
}

interface Refusal {
  readonly message: string;
  readonly reason: string | undefined;
}

function decide(source: Source, attributes: AdmissionAttributes): void {
  const refusals: Refusal[] = [];
  const refuse = (policy: string, binding: string, why: string, reason?: string): void => {
    const message = `ValidatingAdmissionPolicy '${policy}' with binding '${binding}' denied request: ${why}`;
    refusals.push({ message, reason });
  };
  for (const { policy, binding, spec, bindingSpec, variables } of source.meetings(attributes, refuse)) {
    const actions = bindingSpec.validationActions ?? ['Deny'];
    for (const validation of spec.validations ?? []) {
      const problem = problemWith(validation, variables, spec.failurePolicy);
      if (problem === undefined) continue;
      if (actions.includes('Deny')) refuse(policy, binding, problem, validation.reason);
      if (actions.includes('Warn')) {
        attributes.warnings.push(
          `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${binding}': ${problem}`,
        );
      }
    }
  }
  const [first] = refusals;
  if (first !== undefined) throw refusalOf(attributes, first);
}

/** Undefined when the expression holds, or when its failure is to be passed over. */
function problemWith(
  { expression, message, messageExpression }: Validation,
  variables: Record<string, unknown>,
  failurePolicy: string | undefined,
): string | undefined {
  try {
    if (run(expression, variables) === true) return undefined;
  } catch (error) {
    if (!(error instanceof PolicyFailure)) throw error;
    return failurePolicy === 'Ignore' ? undefined : error.message;
  }
  if (messageExpression) {
    try {
      const text = messageText(run(messageExpression, variables));
      if (text !== undefined) return text;
    } catch {
      // The fixed message says enough.
    }
  }
  return message?.trim() || `failed expression: ${expression.trim()}`;
}

function refusalOf(attributes: AdmissionAttributes, { message, reason = 'Invalid' }: Refusal): ApiError {
  const { status } = forbidden(attributes.resource, refusedName(attributes), message);
  const code = CODES[reason] ?? 422;
  return new ApiError(code, { ...status, reason, code, details: { ...status.details, causes: [{ message }] } });
}

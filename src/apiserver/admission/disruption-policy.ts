import { type DisruptionPolicy, disruptionPolicyType } from '../../api/quorate/disruption-policy.ts';
import { validateDisruptionPolicy } from '../../api/quorate/disruption-policy-validation.ts';
import type { AdmissionPlugin } from '../context/admission-plugin.ts';
import { invalid } from '../exchange/status.ts';

/** Checks DisruptionPolicies as they are written. */
export const disruptionPolicyPlugin: AdmissionPlugin = {
  name: 'DisruptionPolicy',
  handles: ({ operation, resource, subresource }) =>
    resource.group === disruptionPolicyType.group &&
    resource.plural === disruptionPolicyType.plural &&
    subresource === undefined &&
    (operation === 'CREATE' || operation === 'UPDATE'),
  validate({ name, object, resource }) {
    const issues = validateDisruptionPolicy(object as DisruptionPolicy);
    if (issues.length > 0) throw invalid(resource, name ?? '', issues);
    return Promise.resolve();
  },
};

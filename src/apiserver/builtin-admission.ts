/** The admission plugins of every control plane, in the order they run. */
import type { FeatureGates } from '../machinery/runtime/index.ts';
import type { AdmissionPlugin } from './admission.ts';
import { limitRanger } from './admission/limit-ranger.ts';
import { namespaceLifecycle } from './admission/namespace-lifecycle.ts';
import { mutatingPolicies } from './admission/policies/mutating.ts';
import { validatingPolicies } from './admission/policies/validating.ts';
import { groupFieldGates, podGroupWorkloadExists } from './admission/pod-groups.ts';
import { priorities } from './admission/priority.ts';
import { resourceQuota } from './admission/resource-quota.ts';
import { runtimeClasses } from './admission/runtime-class.ts';
import { serviceAccounts } from './admission/service-account.ts';
import { defaultTolerationSeconds, taintNodesByCondition } from './admission/tolerations.ts';
import { webhookPlugins } from './admission/webhooks/index.ts';
import { cleanupBeforeDeletion } from './crd/index.ts';
import type { Kernel } from './kernel.ts';
import { serviceAllocator } from './kinds/core/service-allocator.ts';

export interface BuiltinAdmissionOptions {
  /** The controller that makes a service account in every namespace runs, so pods may be held to having one. */
  readonly serviceAccounts: boolean;
  readonly gates?: FeatureGates | undefined;
}

/**
 * Plugins of the server that change objects come first, then what users configured (policies, then webhooks), and the
 * quota last, so that it charges for what will be stored.
 */
export function builtinAdmission(kernel: Kernel, options: BuiltinAdmissionOptions): AdmissionPlugin[] {
  const own: AdmissionPlugin[] = [
    namespaceLifecycle,
    limitRanger(kernel),
    serviceAccounts({ reads: kernel, clock: kernel.clock, random: kernel.random, required: options.serviceAccounts }),
    taintNodesByCondition,
    groupFieldGates(options.gates),
    priorities(kernel),
    ...(kernel.registry.byKind('scheduling.k8s.io', 'Workload') === undefined ? [] : [podGroupWorkloadExists(kernel)]),
    defaultTolerationSeconds,
    runtimeClasses(kernel),
  ];
  const policies = { mutating: mutatingPolicies(kernel), validating: validatingPolicies(kernel) };
  const webhooks = webhookPlugins(kernel, own);
  for (const part of [policies.mutating, policies.validating, webhooks]) kernel.streams.add(() => part.stop());
  return [
    ...own,
    cleanupBeforeDeletion(kernel),
    serviceAllocator(kernel),
    policies.mutating,
    webhooks.mutating,
    policies.validating,
    webhooks.validating,
    resourceQuota(kernel, kernel.clock),
  ];
}

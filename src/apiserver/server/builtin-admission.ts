/** The admission plugins of every control plane, in the order they run. */
import type { FeatureGates } from '../../machinery/runtime/index.ts';
import type { AdmissionPlugin } from '../context/admission-plugin.ts';
import { limitRanger } from '../admission/limit-ranger.ts';
import { namespaceLifecycle } from '../admission/namespace-lifecycle.ts';
import { mutatingPolicies } from '../admission/policies/mutating.ts';
import { validatingPolicies } from '../admission/policies/validating.ts';
import { groupFieldGates, podGroupWorkloadExists, responderFieldGate } from '../admission/pod-groups.ts';
import { priorities } from '../admission/priority.ts';
import { resourceQuota } from '../admission/resource-quota.ts';
import { runtimeClasses } from '../admission/runtime-class.ts';
import { serviceAccounts } from '../admission/service-account.ts';
import { defaultTolerationSeconds, taintNodesByCondition } from '../admission/tolerations.ts';
import { storageObjectInUseProtection } from '../admission/volume-protection.ts';
import { webhookPlugins } from '../admission/webhooks/index.ts';
import { cleanupBeforeDeletion } from '../crd/index.ts';
import type { ServerContext } from '../context/server-context.ts';
import { serviceAllocator } from '../kinds/core/service-allocator.ts';

export interface BuiltinAdmissionOptions {
  /**
   * The controllers run that make a service account in every namespace, and that let volumes go: pods may be held to having
   * one, and volumes be kept.
   */
  readonly controllers: boolean;
  readonly gates?: FeatureGates | undefined;
}

/**
 * Plugins of the server that change objects come first, then what users configured (policies, then webhooks), and the
 * quota last, so that it charges for what will be stored.
 */
export function builtinAdmission(context: ServerContext, options: BuiltinAdmissionOptions): AdmissionPlugin[] {
  const own: AdmissionPlugin[] = [
    namespaceLifecycle,
    limitRanger(context),
    serviceAccounts({
      reads: context,
      clock: context.clock,
      random: context.random,
      required: options.controllers,
    }),
    taintNodesByCondition,
    groupFieldGates(options.gates),
    responderFieldGate(options.gates),
    priorities(context),
    ...(context.registry.byKind('scheduling.k8s.io', 'Workload') === undefined
      ? []
      : [podGroupWorkloadExists(context)]),
    defaultTolerationSeconds,
    runtimeClasses(context),
    ...(options.controllers ? [storageObjectInUseProtection] : []),
  ];
  const policies = { mutating: mutatingPolicies(context), validating: validatingPolicies(context) };
  const webhooks = webhookPlugins(context, own);
  for (const part of [policies.mutating, policies.validating, webhooks]) context.streams.add(() => part.stop());
  return [
    ...own,
    cleanupBeforeDeletion(context),
    serviceAllocator(context),
    policies.mutating,
    webhooks.mutating,
    policies.validating,
    webhooks.validating,
    resourceQuota(context, context.clock),
  ];
}

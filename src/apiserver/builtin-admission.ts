/** The admission plugins of every control plane, in the order they run. */
import type { AdmissionPlugin } from './admission.ts';
import { limitRanger } from './admission/limit-ranger.ts';
import { priorities } from './admission/priority.ts';
import { resourceQuota } from './admission/resource-quota.ts';
import { runtimeClasses } from './admission/runtime-class.ts';
import { serviceAccounts } from './admission/service-account.ts';
import { defaultTolerationSeconds, taintNodesByCondition } from './admission/tolerations.ts';
import { cleanupBeforeDeletion } from './crd/index.ts';
import type { Kernel } from './kernel.ts';
import { serviceAllocator } from './kinds/core/service-allocator.ts';

export interface BuiltinAdmissionOptions {
  /** The controller that makes a service account in every namespace runs, so pods may be held to having one. */
  readonly serviceAccounts: boolean;
}

export function builtinAdmission(kernel: Kernel, options: BuiltinAdmissionOptions): AdmissionPlugin[] {
  return [
    limitRanger(kernel),
    serviceAccounts({ reads: kernel, clock: kernel.clock, random: kernel.random, required: options.serviceAccounts }),
    taintNodesByCondition,
    priorities(kernel),
    defaultTolerationSeconds,
    runtimeClasses(kernel),
    cleanupBeforeDeletion(kernel),
    serviceAllocator(kernel),
    resourceQuota(kernel, kernel.clock),
  ];
}

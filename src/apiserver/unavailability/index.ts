/** PodUnavailableBudgets on the embedded host: what guards pods, and in which transaction. */
import type { RefusedRequest, UnavailabilityGates } from '../../decisions/unavailability/index.ts';
import type { AdmissionPlugin } from '../admission.ts';
import type { EvictionGuard } from '../eviction/index.ts';
import type { Kernel } from '../kernel.ts';
import { unavailabilityGuard } from './guard.ts';
import type { Guarding } from './judge-request.ts';
import { budgetValidationPlugin, podGuardPlugin, relatedBudgetPlugin } from './plugin.ts';
import { UnavailabilityView } from './view.ts';

export { type Guarding, writeStatus } from './judge-request.ts';

export interface UnavailabilityOptions {
  readonly gates: UnavailabilityGates;
  readonly compat?: boolean;
  readonly refused?: (refusal: RefusedRequest) => void;
}

export interface Unavailability {
  readonly plugins: readonly AdmissionPlugin[];
  readonly guard: EvictionGuard;
  readonly guarding: Guarding;
}

/** Needs the rows of pods, their owners and PodUnavailableBudgets to be registered already. */
export function createUnavailability(
  kernel: Kernel,
  { compat = false, gates, refused = () => {} }: UnavailabilityOptions,
): Unavailability {
  const guarding: Guarding = { kernel, view: new UnavailabilityView(kernel, { compat }), gates, compat, refused };
  return {
    plugins: [budgetValidationPlugin(guarding), relatedBudgetPlugin(guarding), podGuardPlugin(guarding)],
    guard: unavailabilityGuard(guarding),
    guarding,
  };
}

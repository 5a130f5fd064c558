import type { UnavailabilityGates } from '../decisions/unavailability/index.ts';
import type { FeatureGates } from '../machinery/runtime/index.ts';

/** What PodUnavailableBudgets guard, on either host. */
export function unavailabilityGates(gates: FeatureGates): UnavailabilityGates {
  return {
    deletes: gates.enabled('PodUnavailableBudgetDeleteGate'),
    updates: gates.enabled('PodUnavailableBudgetUpdateGate'),
    verticalScaling: gates.enabled('InPlacePodVerticalScaling'),
  };
}

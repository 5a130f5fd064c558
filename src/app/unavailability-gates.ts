import type { UnavailabilityGates } from '../decisions/unavailability/index.ts';
import type { FeatureGates } from '../machinery/runtime/index.ts';

/** What PodUnavailableBudgets guard, on either host. */
export function unavailabilityGates(gates: FeatureGates): UnavailabilityGates {
  const webhook = gates.enabled('PodWebhook');
  return {
    deletes: webhook && gates.enabled('PodUnavailableBudgetDeleteGate'),
    updates: webhook && gates.enabled('PodUnavailableBudgetUpdateGate'),
    groups: gates.enabled('PodUnavailableBudgetGroupPolicy'),
    verticalScaling: gates.enabled('InPlacePodVerticalScaling'),
  };
}

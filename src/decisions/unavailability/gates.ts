import type { UnavailabilityGates } from './operation.ts';

/** The feature gates that decide what PodUnavailableBudgets guard. */
interface Gates {
  enabled(
    gate:
      | 'PodWebhook'
      | 'PodUnavailableBudgetDeleteGate'
      | 'PodUnavailableBudgetUpdateGate'
      | 'PodUnavailableBudgetGroupPolicy'
      | 'InPlacePodVerticalScaling',
  ): boolean;
}

/** What PodUnavailableBudgets guard, on either host. */
export function unavailabilityGates(gates: Gates): UnavailabilityGates {
  const webhook = gates.enabled('PodWebhook');
  return {
    deletes: webhook && gates.enabled('PodUnavailableBudgetDeleteGate'),
    updates: webhook && gates.enabled('PodUnavailableBudgetUpdateGate'),
    groups: gates.enabled('PodUnavailableBudgetGroupPolicy'),
    verticalScaling: gates.enabled('InPlacePodVerticalScaling'),
  };
}

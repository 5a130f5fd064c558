export { createPodUnavailableBudgetController, podUnavailableBudget, type UnavailabilityHost } from './controller.ts';

export { createPodUnavailableBudgetController } from './controller.ts';

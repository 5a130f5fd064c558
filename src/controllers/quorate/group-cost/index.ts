export { createGroupCostController, groupCost } from './controller.ts';

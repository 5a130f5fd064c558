export { planClusterDrain, type PlannedDrain, type PlanRequest, PlanRequestError } from './plan.ts';

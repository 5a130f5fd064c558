export * from './execute.ts';
export { readPlanFile } from './plan-file.ts';
export {
  PLAN_FORMAT,
  PLAN_VERSION,
  planClusterDrain,
  type PlannedDrain,
  type PlanRequest,
  PlanRequestError,
} from './plan.ts';

export * from './execute.ts';
export type { DrainLook } from './look.ts';
export { readPlanFile } from './plan-file.ts';
export {
  planClusterDrain,
  type PlannedDrain,
  PlanRequestError,
} from './plan.ts';

/** `quorate why`: explains with the same functions that answer evictions. Reads a cluster, changes nothing. */
export { explainEverything, type Overview, type OverviewAnswer } from './everything.ts';
export { explainTarget, type WhyAnswer } from './explain.ts';
export type { JointExplanation } from '../../decisions/all-budgets/index.ts';

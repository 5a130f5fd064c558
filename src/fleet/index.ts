/**
 * What lives here: the living picture of a fleet, its groups, budgets and drains, as the dashboard and `quorate top` show
 * it. Pure, and runs in a browser: it may see decisions, api and machinery/values.
 */
export { blocked, budgetViews, type ShownBudget, unblockingCommand } from './budget-views.ts';
export { byName } from './by-name.ts';
export { type MadePlan, makePlan, type RunningDrain, runningDrains, type StepState, stepStates } from './drain-view.ts';
export { Fleet } from './fleet.ts';
export type { ShownGroup } from './group-book.ts';
export { BudgetHistory, type HistorySample } from './history.ts';
export { type Mark, MARK_WORDS, MARKS } from './marks.ts';
export { eventsUntil, momentsOf, pointAt, readReplay, type Replay, type ReplayedBudget } from './replay.ts';
export { answer, scalable, type WhatIfAnswer, type WhatIfQuestion } from './what-if.ts';

/** What a task reads of a cluster before it decides: whole lists, budgets with their groups, ledgers. */
export { CannotTellError, ClusterReader } from './cluster-reader.ts';
export { type BudgetState, evictionBudgets, gatherBudgets } from './gather.ts';

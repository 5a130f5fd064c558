/** GroupEvictions: all members or none, in one transaction with the create. Asks the budgets of both kinds. */
export { groupEvictionPlugin } from './plugin.ts';

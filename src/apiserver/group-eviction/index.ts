/**
 * GroupEvictions: all members or none, in one transaction with the create, or with the end of their notice. Asks the
 * budgets of both kinds.
 */
export { asOneEvictor } from './as-one.ts';
export { noticeAsker } from './notice.ts';
export { groupEvictionPlugin } from './plugin.ts';

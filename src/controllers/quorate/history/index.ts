export { history, type HistoryHost } from './controller.ts';
export type { HistoryOptions } from './deps.ts';

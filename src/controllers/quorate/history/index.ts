export { history, type HistoryHost } from './controller.ts';
export { DEFAULT_BOUNDS, type HistoryOptions } from './deps.ts';

export { createGroupEvictionController, groupEviction, type GroupEvictionHost } from './controller.ts';
export type { SettledGroup } from './deps.ts';

export { createGroupEvictionController, groupEviction, type GroupEvictionHost } from './controller.ts';
export type { NoticeHost, SettledGroup } from './deps.ts';

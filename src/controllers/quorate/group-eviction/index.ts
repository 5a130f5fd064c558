export { createGroupEvictionController } from './controller.ts';
export type { SettledGroup } from './reconcile.ts';

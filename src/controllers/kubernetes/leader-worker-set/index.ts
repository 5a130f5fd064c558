export { kruiseLeaderWorkerSetController, leaderWorkerSetController } from './controller.ts';
export { revisionOf } from './desired.ts';

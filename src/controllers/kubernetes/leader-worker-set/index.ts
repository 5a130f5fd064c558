export { leaderWorkerSetController } from './controller.ts';
export { revisionOf } from './desired.ts';
export { decideGang } from './gang.ts';

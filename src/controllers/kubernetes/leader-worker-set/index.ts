export { leaderWorkerSetController } from './controller.ts';
export { decideGang } from './gang.ts';

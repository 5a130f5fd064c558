export { createJobController } from './controller.ts';
export { decideGang } from './gang.ts';

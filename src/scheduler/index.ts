export { createScheduler } from './scheduler.ts';

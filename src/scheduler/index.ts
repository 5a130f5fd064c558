export { type SchedulerOptions, startScheduler } from './scheduler.ts';

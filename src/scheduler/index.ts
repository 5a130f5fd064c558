export { discoverGroupApi, type GroupApi } from './group-objects.ts';
export { type SchedulerOptions, startScheduler } from './scheduler.ts';

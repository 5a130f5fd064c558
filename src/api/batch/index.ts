export { validateCronJob, validateCronJobUpdate } from './cron-job-validation.ts';
export { defaultCronJob, defaultJob, generateSelector } from './job-defaults.ts';
export { validateJobStatus } from './job-status-validation.ts';
export { validateJob, validateJobUpdate } from './job-validation.ts';
export { parseSchedule, type Schedule } from './schedule.ts';

export { eventTtlController } from './controller.ts';

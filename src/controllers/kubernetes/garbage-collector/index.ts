export { garbageCollector } from './controller.ts';

export { drainWaits } from './controller.ts';

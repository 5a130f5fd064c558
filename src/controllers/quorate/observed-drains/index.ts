export { observedDrains } from './controller.ts';

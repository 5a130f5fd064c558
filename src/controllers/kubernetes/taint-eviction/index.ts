export { taintEvictionController } from './controller.ts';

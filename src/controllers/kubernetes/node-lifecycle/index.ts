export { createNodeLifecycleController } from './controller.ts';

export { nodeLifecycleController } from './controller.ts';

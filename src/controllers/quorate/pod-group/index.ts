export { createPodGroupController } from './controller.ts';

export { createPodGroupController, podGroup } from './controller.ts';

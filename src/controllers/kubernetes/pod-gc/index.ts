export { createPodGcController } from './controller.ts';

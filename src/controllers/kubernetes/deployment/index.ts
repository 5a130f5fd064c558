export { createDeploymentController } from './controller.ts';

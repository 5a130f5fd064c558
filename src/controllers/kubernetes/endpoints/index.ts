export { endpointsController } from './controller.ts';

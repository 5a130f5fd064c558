export { endpointSliceController } from './controller.ts';

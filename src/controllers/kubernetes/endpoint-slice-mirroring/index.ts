export { endpointSliceMirroringController } from './controller.ts';

export { createDisruptionController } from './controller.ts';

export { createRootCaController } from './controller.ts';

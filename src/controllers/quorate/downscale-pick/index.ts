export { downscalePickController } from './controller.ts';

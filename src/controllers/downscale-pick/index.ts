export { startDownscalePickController } from './controller.ts';

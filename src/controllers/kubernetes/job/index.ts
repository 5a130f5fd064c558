export { createJobController } from './controller.ts';

export { podGcController } from './controller.ts';

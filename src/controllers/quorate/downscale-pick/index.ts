export { downscalePick } from './controller.ts';

export { evictionRequest } from './controller.ts';

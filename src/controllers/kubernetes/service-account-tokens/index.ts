export { createServiceAccountTokenController, type TokenControllerOptions } from './controller.ts';

export { evictionRequest, type EvictionRequestHost, type EvictionRequestMode } from './controller.ts';

export { ManualClock, systemClock } from '../machinery/runtime/index.ts';
export {
  type ControlPlane,
  type ControlPlaneOptions,
  type ServedControlPlane,
  startControlPlane,
} from './control-plane.ts';
export * from './objects.ts';

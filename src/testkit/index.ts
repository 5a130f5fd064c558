export { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane.ts';
export * from './objects.ts';

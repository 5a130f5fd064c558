/** A Kubernetes API for tests: the plane, objects to put into it, what to expect of it, and how to make it fail. */
export type { KubeObject, ObjectKey, ResourceType } from '../api/resource.ts';
export {
  ApiError,
  type Client,
  type Clock,
  type DeleteOptions,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isNotFound,
  isTooManyRequests,
  type ListOptions,
  ManualClock,
  type ObjectList,
  type StatusBody,
  systemClock,
  type WatchEvent,
  type WatchOptions,
  type WriteOptions,
} from '../machinery/runtime/index.ts';
export { apply, type HasClient, installCrds } from './apply.ts';
export {
  type ControlPlane,
  type ControlPlaneOptions,
  type ServedControlPlane,
  startControlPlane,
} from './control-plane.ts';
export { expectEvicted, expectRefused, type PodName, setReady } from './evictions.ts';
export { ConnectionLost, type Fault, type FaultMatch, type Faults } from './faults.ts';
export * from './groups.ts';
export * from './objects.ts';
export * from './types.ts';

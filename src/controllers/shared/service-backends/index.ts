/** What the controllers of Endpoints and EndpointSlices share: which pods back a service, and how slices are written. */
export * from './backends.ts';
export * from './plan-slices.ts';
export { watchBackends } from './watch-backends.ts';
export { indexSlices, MANAGED_BY, SERVICE_NAME, slicesOf, watchSlices, writeSlices } from './write-slices.ts';

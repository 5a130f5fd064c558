/** How many pods the owner of a pod should have, for every controller that compares pods with what was asked for. */
export { createScaleFinder, type FoundScale } from './finder.ts';
export { createScaleClient } from './scale-subresource.ts';

/**
 * What every controller that owns pods shares. A pass over an owner reads like this:
 *
 *  1. `expectations.satisfied(key)`, asked before pods are listed: false means the cache still lags behind what the
 *     last pass did; then only status may be written
 *  2. `claim({ owner, cache: pods, ... })`: adopts and releases, answers with the owner's pods
 *  3. decide; then `expectCreations` or `expectDeletions` before the first write
 *  4. `slowStart(n, () => control.create(podFromTemplate(...), owner))`; what failed or was skipped is taken back with
 *     `creationObserved`, a failed deletion with `deletionObserved`
 *  5. status
 *
 * `watchPods` and `watchOwners` feed the queue and the expectations; `indexByController` makes step 2 cheap. Keys are `namespace/name`.
 */
export { claim } from './claim.ts';
export { Expectations } from './expectations.ts';
export { ReadYourWrites } from './read-your-writes.ts';
export { indexByController, ownedBy, ownedOrOrphaned } from './owned.ts';
export { createPodControl, type PodControl, podFromTemplate } from './pods.ts';
export { cachedSelector } from './selector-cache.ts';
export { slowStart } from './slow-start.ts';
export { watchOwners, watchPods } from './watch-pods.ts';

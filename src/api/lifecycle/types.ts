/** EvictionRequest and Eviction of lifecycle.k8s.io: names and fixed words. Their fields are generated. */
import type { Eviction, EvictionRequest } from '../generated/lifecycle-v1alpha1.ts';
import { builtinType } from '../registry.ts';
import type { ResourceType } from '../resource.ts';

export const LIFECYCLE_GROUP = 'lifecycle.k8s.io';

export const evictionRequestType = builtinType('EvictionRequest', LIFECYCLE_GROUP) as ResourceType<EvictionRequest>;
export const evictionType = builtinType('Eviction', LIFECYCLE_GROUP) as ResourceType<Eviction>;

export const INTENTS = ['Eviction', 'Withdrawn'] as const;

export const RESPONDER_STATES = ['Active', 'Canceled', 'Completed', 'Inactive', 'Interrupted'] as const;
export type ResponderState = (typeof RESPONDER_STATES)[number];
/** States that a responder never leaves. */
export const FINAL_STATES: readonly ResponderState[] = ['Canceled', 'Completed', 'Interrupted'];

/** True: the pod is gone or finished. */
export const TARGET_EVICTED = 'TargetEvicted';
/** True: nobody works on it any more. */
export const FAILED = 'Failed';

/** The responder that every pod has: it calls `pods/eviction`, and comes last. */
export const DEFAULT_RESPONDER = 'imperative-eviction.k8s.io/evictor';
export const DEFAULT_RESPONDER_PRIORITY = 100;

export const MAX_POD_RESPONDERS = 10;
export const MAX_RESPONDERS = MAX_POD_RESPONDERS + 1;
export const MAX_REQUESTERS = 100;
export const MAX_CONDITIONS = 100;
/** Below it priorities are kept for responders of Kubernetes' own. */
export const LEAST_FREE_PRIORITY = 1000;
export const MAX_PRIORITY = 100_000;

/** A responder that says nothing for so long is passed over. */
export const HEARTBEAT_DEADLINE_MS = 20 * 60_000;
/** By how much clocks of writers and server may differ. */
export const CLOCK_SKEW_MS = 30_000;

import type { OptionalFeature } from '../../api/crds/index.ts';
import type { PolicyRule } from '../../api/generated/rbac-v1.ts';
import type { ResourceType } from '../../api/resource.ts';
import type { Controller, FeatureGate, FeatureGates } from '../../machinery/runtime/index.ts';

/** What a controller may know about where it is started. */
export interface ControllerHost {
  readonly gates: FeatureGates;
  /** Whether a kind that comes with Quorate is served. */
  readonly serves: (type: Pick<ResourceType, 'group' | 'plural'>) => boolean;
}

/** `embedded`: `quorate up`. `operator`: a cluster that was there before. */
export type HostName = 'embedded' | 'operator';

/**
 * All that has to be said about a controller of ours outside its own folder. `H` is what else it wants from its host:
 * most want nothing.
 */
export interface OwnController<H extends ControllerHost = ControllerHost> {
  /** Where it runs, and the feature gate that switches it off there. */
  readonly hosts: Partial<Record<HostName, FeatureGate | 'always'>>;
  /** The kind it is for. Where a cluster does not serve it, the controller is not started. */
  readonly needs?: ResourceType;
  /** What the operator may do for it on the whole cluster, beside reading what every installation reads. */
  readonly rights?: readonly PolicyRule[];
  /** An installation without this feature is spared the rights. */
  readonly feature?: OptionalFeature;
  /** What it may do besides, where another feature is on as well. */
  readonly rightsWith?: Readonly<Partial<Record<OptionalFeature, readonly PolicyRule[]>>>;
  /** Undefined: there is nothing for it to do here. */
  readonly create: (host: H) => Controller | undefined;
}

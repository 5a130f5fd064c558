/** Quorate's own controllers: which there are, where each runs and what it may do. Both hosts and the manifests read this. */
import type { PolicyRule } from '../../api/generated/rbac-v1.ts';
import { OPTIONAL_FEATURES, type OptionalFeature } from '../../api/crds/index.ts';
import type { ResourceType } from '../../api/resource.ts';
import type { Controller } from '../../machinery/runtime/index.ts';
import { type DisruptionHost, disruption } from './disruption/index.ts';
import { disruptionPolicy } from './disruption-policy/index.ts';
import { drainWaits } from './drain-waits/index.ts';
import { downscalePick } from './downscale-pick/index.ts';
import { groupCost } from './group-cost/index.ts';
import { evictionRequest, type EvictionRequestHost, type EvictionRequestMode } from './eviction-request/index.ts';
import { type GroupEvictionHost, groupEviction } from './group-eviction/index.ts';
import { type GroupMakingHost, groupMaking } from './group-making/index.ts';
import { history, type HistoryHost, type HistoryOptions } from './history/index.ts';
import { maintenance } from './maintenance/index.ts';
import { observedDrains } from './observed-drains/index.ts';
import type { ControllerHost, HostName, OwnController } from './own-controller.ts';
import { podGroup } from './pod-group/index.ts';
import { podUnavailableBudget, type UnavailabilityHost } from './pod-unavailable-budget/index.ts';

export type { ControllerHost, EvictionRequestMode, HistoryOptions };

export type OwnHost = DisruptionHost &
  UnavailabilityHost &
  GroupEvictionHost &
  GroupMakingHost &
  HistoryHost &
  EvictionRequestHost;

const OWN_CONTROLLERS: readonly OwnController<OwnHost>[] = [
  disruption,
  podGroup,
  podUnavailableBudget,
  downscalePick,
  groupEviction,
  groupMaking,
  disruptionPolicy,
  maintenance,
  drainWaits,
  observedDrains,
  groupCost,
  history,
  evictionRequest,
];

/** Those that run on a host, made for it. `missing` hears of kinds without which one cannot. */
export function ownControllers(
  name: HostName,
  host: OwnHost,
  missing: (type: ResourceType) => void = () => {},
): Controller[] {
  const told = new Set<ResourceType>();
  return OWN_CONTROLLERS.flatMap(({ create, hosts, needs }) => {
    const gate = hosts[name];
    if (gate === undefined || (gate !== 'always' && !host.gates.enabled(gate))) return [];
    if (needs === undefined || host.serves(needs)) return create(host) ?? [];
    // Several controllers may be for one kind.
    if (!told.has(needs)) missing(needs);
    told.add(needs);
    return [];
  });
}

/**
 * What the operator may do for its controllers: those of a feature, or those of every installation. `isOn` says which
 * other features there are.
 */
export function controllerRights(
  of: OptionalFeature | undefined,
  isOn: (feature: OptionalFeature) => boolean = () => true,
): readonly PolicyRule[] {
  const others = OPTIONAL_FEATURES.filter(isOn);
  return OWN_CONTROLLERS.filter(({ feature }) => feature === of).flatMap(({ rights = [], rightsWith = {} }) => [
    ...rights,
    ...others.flatMap((feature) => rightsWith[feature] ?? []),
  ]);
}

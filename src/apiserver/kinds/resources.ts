/** The registry's built-in resources: the names of a kind, its strategy and its subresources put together. */
import { LIFECYCLE_GROUP } from '../../api/lifecycle/index.ts';
import { builtinKinds, type KindNames } from '../../api/registry.ts';
import { FeatureGates } from '../../machinery/runtime/index.ts';
import {
  ALL_VERBS,
  apiVersion,
  type Resource,
  type Verb,
  type ServedVersion,
  storagePrefix,
} from '../registry/resource.ts';
import type { Strategy } from '../registry/strategy.ts';
import type { Subresource } from '../registry/subresource.ts';
import { bindingSubresource } from '../subresources/binding.ts';
import { finalizeSubresource } from '../subresources/finalize.ts';
import { logSubresource, proxySubresource } from '../subresources/no-containers.ts';
import { ephemeralContainersSubresource, resizeSubresource } from '../subresources/pod-parts.ts';
import { attachSubresource, execSubresource, portForwardSubresource } from '../subresources/pod-streams.ts';
import { scaleSubresource, workloadScale } from '../subresources/scale.ts';
import { statusSubresource } from '../subresources/status.ts';
import { withoutPickers } from './apps/picker-gate.ts';
import { conversions } from './conversions.ts';
import { strategies } from './strategies.ts';
import { WARNINGS } from './warnings/by-kind.ts';
import { deprecationOf } from './warnings/deprecated-versions.ts';

/** Kinds that are another view of a stored kind. */
const VIEW_OF: Readonly<Record<string, { readonly group: string; readonly version: string; readonly plural: string }>> =
  {
    'events.k8s.io/Event': { group: '', version: 'v1', plural: 'events' },
  };

const VERBS: Readonly<Record<string, readonly Verb[]>> = {
  '/Namespace': ALL_VERBS.filter((verb) => verb !== 'deletecollection'),
};

const HAS_PICKER = new Set(['apps/Deployment', 'apps/ReplicaSet']);

export function builtinResources(gates = new FeatureGates()): Resource[] {
  const resources = builtinKinds.filter((names) => isServed(names, gates)).map((names) => resourceOf(names, gates));
  if (gates.enabled('DownscalePodPicker')) return resources;
  return resources.map((resource) =>
    HAS_PICKER.has(`${resource.group}/${resource.kind}`)
      ? { ...resource, strategy: withoutPickers(resource.strategy) }
      : resource,
  );
}

/** Kinds behind a gate that is off are not there at all. */
function isServed({ group, kind }: KindNames, gates: FeatureGates): boolean {
  if (group === LIFECYCLE_GROUP) return gates.enabled('EvictionRequestAPI');
  if (group !== 'scheduling.k8s.io') return true;
  if (kind === 'Workload') return gates.enabled('GenericWorkload');
  if (kind !== 'PodGroup' && kind !== 'CompositePodGroup') return true;
  return gates.enabled('GenericWorkload') && gates.enabled('GenericWorkloadPodGroup');
}

/** Versions behind a gate that is off are not there either. */
function servesVersion(id: string, version: string, gates: FeatureGates): boolean {
  return id !== 'policy/PodDisruptionBudget' || version === 'v1' || gates.enabled('PolicyV1beta1');
}

function resourceOf(names: KindNames, gates: FeatureGates): Resource {
  const id = `${names.group}/${names.kind}`;
  const view = VIEW_OF[id];
  const stored = view ?? { group: names.group, version: names.versions[0] };
  return {
    group: names.group,
    kind: names.kind,
    listKind: `${names.kind}List`,
    plural: names.plural,
    singular: names.singular,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: names.namespaced,
    verbs: VERBS[id] ?? ALL_VERBS,
    versions: names.versions
      .filter((name) => servesVersion(id, name, gates))
      .map((name): ServedVersion => {
        const deprecation = deprecationOf(apiVersion(names.group, name), names.kind);
        return { name, ...conversions[`${id}/${name}`], ...deprecation };
      }),
    stored: { group: stored.group, version: stored.version },
    prefix: storagePrefix(stored.group, view?.plural ?? names.plural),
    strategy: withWarnings(strategies[id] ?? {}, id),
    subresources: subresourcesOf(names),
    custom: false,
  };
}

/** What is said of a kind by its own strategy, and then what Kubernetes warns of. */
function withWarnings(strategy: Strategy, id: string): Strategy {
  const warn = WARNINGS[id];
  if (warn === undefined) return strategy;
  const own = strategy.warnings?.bind(strategy);
  return { ...strategy, warnings: (object, old) => [...(own?.(object, old) ?? []), ...warn(object, old)] };
}

/** Subresources beyond status and scale. */
const EXTRA: Readonly<Record<string, readonly (readonly [string, Subresource])[]>> = {
  '/Namespace': [['finalize', finalizeSubresource]],
  '/Node': [['proxy', proxySubresource('NodeProxyOptions')]],
  '/Pod': [
    ['attach', attachSubresource],
    ['binding', bindingSubresource],
    ['ephemeralcontainers', ephemeralContainersSubresource],
    ['exec', execSubresource],
    ['log', logSubresource],
    ['portforward', portForwardSubresource],
    ['proxy', proxySubresource('PodProxyOptions')],
    ['resize', resizeSubresource],
  ],
  '/Service': [['proxy', proxySubresource('ServiceProxyOptions')]],
};

function subresourcesOf(names: KindNames): Map<string, Subresource> {
  const subresources = new Map<string, Subresource>();
  if (names.status) subresources.set('status', statusSubresource(names.kind));
  if (names.scale) subresources.set('scale', scaleSubresource(workloadScale));
  for (const [name, subresource] of EXTRA[`${names.group}/${names.kind}`] ?? []) subresources.set(name, subresource);
  return subresources;
}

import type { Pod } from '../../../api/generated/core-v1.ts';
import type {
  Device,
  DeviceClass,
  DeviceToleration,
  ResourceClaim,
  ResourceClaimSpec,
  ResourceSlice,
} from '../../../api/generated/resource-v1.ts';
import { type DeviceCondition, readSelectors } from './device-selector.ts';
import { compileNodeTerms, matchesNodeTerms, type NodeTerm } from './node-selection.ts';

/** A device that some node can reach. */
export interface DeviceFacts {
  readonly id: string;
  readonly driver: string;
  readonly device: Device;
  readonly nodeName: string | undefined;
  readonly terms: readonly NodeTerm[] | undefined;
  /** What makes counting devices not enough. */
  readonly odd: string | undefined;
}

export interface ClassFacts {
  readonly name: string;
  /** Undefined: a selector says more than is evaluated here. */
  readonly conditions: readonly DeviceCondition[] | undefined;
}

export interface ClaimState {
  readonly key: string;
  readonly spec: ResourceClaimSpec | undefined;
  readonly allocation:
    | { readonly devices: readonly string[]; readonly terms: readonly NodeTerm[] | undefined }
    | undefined;
  readonly reservedFor: readonly string[];
}

/** One claim of a pod: its own, or one that pods share. */
export interface PodClaim {
  readonly name: string;
  readonly key: string;
  readonly spec: ResourceClaimSpec | undefined;
  readonly missing: boolean;
  readonly state: ClaimState | undefined;
}

/** Devices, classes and claims (`resource.k8s.io`). */
export class DeviceBook {
  /** The cluster serves these kinds and they have been read. */
  known = false;
  readonly #classes = new Map<string, ClassFacts>();
  readonly #byResource = new Map<string, string>();
  readonly #slices: ResourceSlice[] = [];
  readonly #claims = new Map<string, ClaimState>();
  readonly #templates = new Map<string, ResourceClaimSpec | undefined>();
  /** Pods with claims that stood somewhere and have left. */
  readonly #left = new Set<string>();
  /** What pods placed in a trial were given, by claim. */
  readonly #given = new Map<string, { readonly devices: readonly string[]; readonly node: string; users: number }>();
  readonly #keys = new Map<string, readonly string[]>();
  #devices: { all: readonly DeviceFacts[]; incomplete: ReadonlySet<string> } | undefined;

  setClass({ metadata, spec }: DeviceClass): void {
    const name = metadata.name ?? '';
    this.#classes.set(name, { name, conditions: readSelectors(spec?.selectors) });
    if (spec?.extendedResourceName) this.#byResource.set(spec.extendedResourceName, name);
  }

  addSlice(slice: ResourceSlice): void {
    this.#slices.push(slice);
    this.#devices = undefined;
  }

  setClaim({ metadata, spec, status }: ResourceClaim): void {
    const key = `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
    const { allocation } = status ?? {};
    const results = allocation?.devices?.results ?? [];
    this.#claims.set(key, {
      key,
      spec,
      allocation: allocation && {
        devices: results.filter(({ adminAccess }) => adminAccess !== true).map(idOf),
        terms: allocation.nodeSelector && compileNodeTerms(allocation.nodeSelector.nodeSelectorTerms),
      },
      reservedFor: (status?.reservedFor ?? []).map(({ uid }) => uid),
    });
  }

  setTemplate(namespace: string, name: string, spec: ResourceClaimSpec | undefined): void {
    this.#templates.set(`${namespace}/${name}`, spec);
  }

  classNamed(name: string): ClassFacts | undefined {
    return this.#classes.get(name);
  }

  /** The class whose devices stand in for an extended resource. */
  classFor(resource: string): ClassFacts | undefined {
    const implicit = 'deviceclass.resource.kubernetes.io/';
    const name = resource.startsWith(implicit) ? resource.slice(implicit.length) : this.#byResource.get(resource);
    return name === undefined ? undefined : this.#classes.get(name);
  }

  claimsOf({ metadata, spec, status }: Pod): PodClaim[] {
    const namespace = metadata.namespace ?? '';
    return (spec?.resourceClaims ?? []).map(({ name, resourceClaimName, resourceClaimTemplateName }) => {
      const made = status?.resourceClaimStatuses?.find((one) => one.name === name)?.resourceClaimName;
      const known = resourceClaimName ?? made;
      if (known !== undefined) {
        const key = `${namespace}/${known}`;
        const state = this.#claims.get(key);
        return { name, key, spec: state?.spec, state, missing: state === undefined };
      }
      const template = `${namespace}/${resourceClaimTemplateName ?? ''}`;
      return {
        name,
        key: `${namespace}/${metadata.name ?? ''}/${name}`,
        spec: this.#templates.get(template),
        state: undefined,
        missing: !this.#templates.has(template),
      };
    });
  }

  /** Whether a claim's allocation stands: it ends when the last pod that uses it has left. */
  isAllocated({ allocation, reservedFor }: ClaimState): boolean {
    if (allocation === undefined) return false;
    return reservedFor.length === 0 || reservedFor.some((uid) => !this.#left.has(uid));
  }

  givenFor(key: string): { readonly devices: readonly string[]; readonly node: string } | undefined {
    return this.#given.get(key);
  }

  arrive(uid: string): void {
    this.#left.delete(uid);
  }

  give(
    uid: string,
    grants: readonly { readonly key: string; readonly devices: readonly string[] }[],
    node: string,
  ): void {
    if (grants.length === 0) return;
    this.#keys.set(
      uid,
      grants.map(({ key }) => key),
    );
    for (const { devices, key } of grants) {
      const known = this.#given.get(key);
      if (known === undefined) this.#given.set(key, { devices, node, users: 1 });
      else known.users += 1;
    }
  }

  leave(uid: string): void {
    this.#left.add(uid);
    for (const key of this.#keys.get(uid) ?? []) {
      const known = this.#given.get(key);
      if (known === undefined) continue;
      known.users -= 1;
      if (known.users === 0) this.#given.delete(key);
    }
    this.#keys.delete(uid);
  }

  /** Devices that somebody has. */
  taken(): Set<string> {
    const taken = new Set<string>();
    for (const claim of this.#claims.values()) {
      if (this.isAllocated(claim)) for (const id of claim.allocation?.devices ?? []) taken.add(id);
    }
    for (const { devices } of this.#given.values()) for (const id of devices) taken.add(id);
    return taken;
  }

  /** Devices a node can reach, by name. */
  reachable(node: { readonly name: string; readonly labels: Readonly<Record<string, string>> }): DeviceFacts[] {
    return this.#known().all.filter(({ nodeName, terms }) =>
      nodeName === undefined
        ? terms === undefined || matchesNodeTerms(terms, node.labels, node.name)
        : nodeName === node.name,
    );
  }

  every(): readonly DeviceFacts[] {
    return this.#known().all;
  }

  /** Devices that several nodes can reach. */
  get shared(): boolean {
    return this.#known().all.some(({ nodeName }) => nodeName === undefined);
  }

  /** Drivers with a pool of which not all slices are there. */
  get incomplete(): ReadonlySet<string> {
    return this.#known().incomplete;
  }

  #known(): { all: readonly DeviceFacts[]; incomplete: ReadonlySet<string> } {
    return (this.#devices ??= readSlices(this.#slices));
  }
}

const idOf = ({ device, driver, pool }: { driver: string; pool: string; device: string }): string =>
  `${driver}/${pool}/${device}`;

/** Devices of the newest generation of each pool that is complete. */
function readSlices(slices: readonly ResourceSlice[]): { all: DeviceFacts[]; incomplete: ReadonlySet<string> } {
  const pools = new Map<string, ResourceSlice[]>();
  for (const slice of slices) {
    if (slice.spec === undefined) continue;
    const key = `${slice.spec.driver}/${slice.spec.pool.name}`;
    const known = pools.get(key) ?? [];
    const newest = known[0]?.spec?.pool.generation ?? -1;
    if (slice.spec.pool.generation > newest) pools.set(key, [slice]);
    else if (slice.spec.pool.generation === newest) known.push(slice);
  }
  const incomplete = new Set<string>();
  const all: DeviceFacts[] = [];
  for (const pool of pools.values()) {
    const [first] = pool;
    if (first?.spec === undefined) continue;
    if (pool.length < first.spec.pool.resourceSliceCount) {
      incomplete.add(first.spec.driver);
      continue;
    }
    for (const { spec } of pool) {
      for (const device of spec?.devices ?? []) {
        const { driver = '', pool: at } = spec ?? {};
        const where = spec?.perDeviceNodeSelection === true ? device : spec;
        all.push({
          id: idOf({ driver, pool: at?.name ?? '', device: device.name }),
          driver,
          device,
          nodeName: where?.nodeName,
          terms: where?.nodeSelector && compileNodeTerms(where.nodeSelector.nodeSelectorTerms),
          odd: oddityOf(device),
        });
      }
    }
  }
  return { all: all.sort((a, b) => (a.id < b.id ? -1 : 1)), incomplete };
}

function oddityOf(device: Device): string | undefined {
  if ((device.consumesCounters?.length ?? 0) > 0) return 'SharedCounters';
  if (device.allowMultipleAllocations === true) return 'MultipleAllocations';
  if ((device.bindingConditions?.length ?? 0) > 0) return 'BindingConditions';
  return device.nodeAllocatableResourceMappings === undefined ? undefined : 'NodeAllocatable';
}

/** A device taint that no toleration covers keeps the device from being given out. */
export function isTainted({ device }: DeviceFacts, tolerations: readonly DeviceToleration[] = []): boolean {
  return (device.taints ?? []).some(
    ({ effect, key, value = '' }) =>
      (effect === 'NoSchedule' || effect === 'NoExecute') &&
      !tolerations.some(
        (one) =>
          (!one.effect || one.effect === effect) &&
          (!one.key || one.key === key) &&
          (one.operator === 'Exists' || (one.key !== undefined && (one.value ?? '') === value)),
      ),
  );
}

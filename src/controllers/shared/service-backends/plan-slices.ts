import type { Endpoint, EndpointSlice } from '../../../api/generated/discovery-v1.ts';
import { semanticEqual } from '../../../machinery/values/index.ts';
import type { AddressType, BackendPort } from './backends.ts';

/** Endpoints that belong in the same slices: one address family, one list of ports. */
export interface SliceGroup {
  readonly addressType: AddressType;
  readonly ports: readonly BackendPort[];
  readonly endpoints: readonly Endpoint[];
}

export interface SlicePlan {
  readonly create: readonly Pick<EndpointSlice, 'addressType' | 'ports' | 'endpoints'>[];
  readonly update: readonly EndpointSlice[];
  readonly remove: readonly EndpointSlice[];
}

export interface SliceRules {
  /** What every slice carries. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly maxEndpoints: number;
}

const idOf = ({ addresses, targetRef }: Endpoint) => targetRef?.uid ?? addresses.join();
const sortPorts = (ports: readonly BackendPort[] = []) =>
  [...ports].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
const groupKey = (addressType: string, ports: readonly BackendPort[] | undefined) =>
  `${addressType} ${JSON.stringify(sortPorts(ports).map(({ name = '', port, protocol, appProtocol }) => [name, port, protocol, appProtocol]))}`;

/**
 * Fits the wanted endpoints into slices with as few writes as is simple: an endpoint stays in the slice it is in, new
 * ones fill slices with room, and a slice left empty goes.
 */
export function planSlices(
  existing: readonly EndpointSlice[],
  groups: readonly SliceGroup[],
  rules: SliceRules,
): SlicePlan {
  const byGroup = new Map<string, EndpointSlice[]>();
  for (const slice of existing) {
    const key = groupKey(slice.addressType, slice.ports as BackendPort[] | undefined);
    byGroup.set(key, [...(byGroup.get(key) ?? []), slice]);
  }
  const plan = {
    create: [] as Pick<EndpointSlice, 'addressType' | 'ports' | 'endpoints'>[],
    update: [] as EndpointSlice[],
    remove: [] as EndpointSlice[],
  };
  for (const group of groups) {
    const key = groupKey(group.addressType, group.ports);
    const slices = byGroup.get(key) ?? [];
    byGroup.delete(key);
    fillGroup(slices, group, rules, plan);
  }
  for (const slices of byGroup.values()) plan.remove.push(...slices);
  return plan;
}

function fillGroup(
  slices: readonly EndpointSlice[],
  { addressType, ports, endpoints }: SliceGroup,
  rules: SliceRules,
  plan: {
    create: Pick<EndpointSlice, 'addressType' | 'ports' | 'endpoints'>[];
    update: EndpointSlice[];
    remove: EndpointSlice[];
  },
): void {
  const unplaced = new Map(endpoints.map((endpoint) => [idOf(endpoint), endpoint]));
  const take = (id: string): Endpoint[] => {
    const endpoint = unplaced.get(id);
    unplaced.delete(id);
    return endpoint === undefined ? [] : [endpoint];
  };
  const kept = slices.map((slice) => ({
    slice,
    held: (slice.endpoints ?? []).flatMap((endpoint) => take(idOf(endpoint))),
  }));
  for (const { held } of kept) {
    while (held.length < rules.maxEndpoints && unplaced.size > 0) {
      held.push(...take(unplaced.keys().next().value as string));
    }
  }
  // A service without endpoints keeps one empty slice per family: readers can tell "none" from "not yet".
  const spare = endpoints.length === 0 ? kept[0] : undefined;
  for (const one of kept) {
    if (one.held.length === 0 && one !== spare) plan.remove.push(one.slice);
    else if (!isCurrent(one.slice, one.held, rules)) plan.update.push(rewrite(one.slice, one.held, rules));
  }
  const rest = [...unplaced.values()];
  for (let at = 0; at < rest.length; at += rules.maxEndpoints) {
    plan.create.push({ addressType, ports: [...ports], endpoints: rest.slice(at, at + rules.maxEndpoints) });
  }
  if (endpoints.length === 0 && spare === undefined)
    plan.create.push({ addressType, ports: [...ports], endpoints: [] });
}

function isCurrent(slice: EndpointSlice, endpoints: readonly Endpoint[], { labels, annotations }: SliceRules): boolean {
  return (
    semanticEqual(slice.endpoints ?? [], endpoints) &&
    semanticEqual(slice.metadata.labels ?? {}, labels) &&
    (annotations === undefined || semanticEqual(slice.metadata.annotations ?? {}, annotations))
  );
}

function rewrite(slice: EndpointSlice, endpoints: Endpoint[], { labels, annotations }: SliceRules): EndpointSlice {
  const metadata = {
    ...slice.metadata,
    labels: { ...labels },
    ...(annotations && { annotations: { ...annotations } }),
  };
  return { ...slice, metadata, endpoints };
}

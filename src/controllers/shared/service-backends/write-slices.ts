import { controllerReference, type Owned } from '../../../api/core/owner.ts';
import type { EndpointSlice } from '../../../api/generated/discovery-v1.ts';
import { type KubeObject, keyOf, type ResourceType } from '../../../api/resource.ts';
import { endpointSliceType } from '../../../api/resource-types.ts';
import { type Client, type Informer, isNotFound, type Watch, watch } from '../../../machinery/runtime/index.ts';
import type { ReadYourWrites } from '../pod-control/index.ts';
import type { SlicePlan, SliceRules } from './plan-slices.ts';

export const SERVICE_NAME = 'kubernetes.io/service-name';
export const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const BY_SERVICE = 'service-and-manager';

export interface SliceWriter {
  readonly client: Client;
  readonly slices: Informer<EndpointSlice>;
  readonly readYourWrites: ReadYourWrites;
}

export function indexSlices(slices: Informer<EndpointSlice>): Informer<EndpointSlice> {
  slices.addIndex(BY_SERVICE, ({ metadata: { labels = {}, namespace = '' } }) => [
    `${namespace}/${labels[SERVICE_NAME] ?? ''} ${labels[MANAGED_BY] ?? ''}`,
  ]);
  return slices;
}

export function slicesOf(slices: Informer<EndpointSlice>, serviceKey: string, manager: string): EndpointSlice[] {
  // Go writes empty lists of a slice as null.
  return slices
    .byIndex(BY_SERVICE, `${serviceKey} ${manager}`)
    .map((slice) => ({ ...slice, endpoints: slice.endpoints ?? [], ports: slice.ports ?? [] }));
}

/** Wakes a service when one of the manager's slices for it changes. */
export function watchSlices(slices: Informer<EndpointSlice>, manager: string): Watch {
  const serviceOf = ({ metadata: { labels = {}, namespace = '' } }: EndpointSlice): string[] =>
    labels[MANAGED_BY] === manager ? [`${namespace}/${labels[SERVICE_NAME] ?? ''}`] : [];
  return watch(slices, {
    added: serviceOf,
    updated: (slice, old) => [...serviceOf(old), ...serviceOf(slice)],
    deleted: serviceOf,
  });
}

/** Carries a plan out for the object the slices belong to. */
export async function writeSlices(
  { client, slices, readYourWrites }: SliceWriter,
  { type, owner }: { readonly type: ResourceType; readonly owner: KubeObject & Owned },
  plan: SlicePlan & { readonly rules: SliceRules },
): Promise<void> {
  const key = keyOf(owner);
  const { name = '', namespace = '' } = owner.metadata;
  const { labels, annotations } = plan.rules;
  for (const slice of plan.create) {
    const metadata = {
      namespace,
      generateName: `${name}-`,
      labels: { ...labels },
      ...(annotations && { annotations: { ...annotations } }),
      ownerReferences: [controllerReference(type, owner)],
    };
    readYourWrites.record(key, slices, await client.create(endpointSliceType, { ...slice, metadata }));
  }
  for (const slice of plan.update) readYourWrites.record(key, slices, await client.update(endpointSliceType, slice));
  for (const { metadata } of plan.remove) await removeSlice(client, { namespace, name: metadata.name ?? '' });
}

async function removeSlice(client: Client, key: { namespace: string; name: string }): Promise<void> {
  try {
    await client.delete(endpointSliceType, key);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

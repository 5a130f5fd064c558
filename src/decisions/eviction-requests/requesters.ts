import type { Eviction, EvictionRequest, Requester } from '../../api/generated/lifecycle-v1alpha1.ts';
import type { ObjectMeta, OwnerReference } from '../../api/generated/meta-v1.ts';
import { evictionRequestType, MAX_REQUESTERS } from '../../api/lifecycle/index.ts';
import { NOTICE_REQUESTER } from '../../api/quorate/notice.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { semanticEqual } from '../../machinery/values/index.ts';

const MAX_NAME = 253;

/** A request that is being deleted counts as withdrawn, however long something holds it. */
export const isActive = ({ metadata, spec }: EvictionRequest): boolean =>
  spec?.intent === 'Eviction' && !metadata.deletionTimestamp;

/** It wants the pod gone, and does not only tell it that it has to go. */
export const wantsGone = (request: EvictionRequest): boolean =>
  isActive(request) && request.spec?.requester !== NOTICE_REQUESTER;

/** Whether its last change has been answered. */
export const isSeen = ({ metadata, status }: EvictionRequest): boolean =>
  (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1);

/** Everybody who asks or has asked. When there are too many, those that withdrew go first. */
export function nextRequesters(requests: readonly EvictionRequest[], before: readonly Requester[] = []): Requester[] {
  const active = new Set(requests.filter(isActive).map(({ spec }) => spec?.requester ?? ''));
  const known = new Set([...before.map(({ name }) => name), ...requests.map(({ spec }) => spec?.requester ?? '')]);
  const all = [...known].map((name) => ({ name, intent: active.has(name) ? 'Eviction' : 'Withdrawn' }));
  if (all.length <= MAX_REQUESTERS) return all;
  const asking = all.filter(({ intent }) => intent === 'Eviction').slice(0, MAX_REQUESTERS);
  const kept = new Set(all.filter(({ intent }) => intent === 'Withdrawn').slice(0, MAX_REQUESTERS - asking.length));
  return all.filter((one) => asking.includes(one) || kept.has(one));
}

/** `pod-N-NAME`, one more than the highest there is for a pod of this name. */
export function nextName(pod: string, names: readonly string[]): string {
  const last = Math.max(0, ...names.flatMap((name) => numberOf(name, pod) ?? []));
  return nameOf(pod, last + 1);
}

export function nameOf(pod: string, number: number): string {
  return `pod-${number}-${pod}`.slice(0, MAX_NAME).replace(/[^a-z0-9]+$/, '');
}

/** Undefined where it is not called as Evictions of this pod are. */
export function numberOf(name: string, pod: string): number | undefined {
  const number = Number(/^pod-([1-9]\d{0,8})-/.exec(name)?.[1]);
  return Number.isInteger(number) && name === nameOf(pod, number) ? number : undefined;
}

/** Who has a part in it, as labels to find it by. */
function roleLabels(requesters: readonly string[], responders: readonly string[]): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const name of requesters) labels[name] = 'requester';
  for (const name of responders) labels[name] = labels[name] === undefined ? 'responder' : 'requester-responder';
  return labels;
}

function ownersOf(requests: readonly EvictionRequest[]): OwnerReference[] {
  return requests.map(({ metadata: { name = '', uid = '' } }) => ({
    apiVersion: apiVersionOf(evictionRequestType),
    kind: evictionRequestType.kind,
    name,
    uid,
  }));
}

type Metadata = Pick<ObjectMeta, 'labels' | 'ownerReferences'>;

/**
 * Labels and owners as they should be, beside what others wrote. An owner that is gone stays named: the garbage collector
 * takes the Eviction when the last one is gone, and would leave one that names nobody.
 */
export function nextMetadata(
  { metadata, status }: Pick<Eviction, 'metadata' | 'status'>,
  requests: readonly EvictionRequest[],
): Metadata {
  const requesters = (status?.requesters ?? []).map(({ name }) => name);
  const responders = (status?.targetResponders ?? []).map(({ name }) => name);
  const before = metadata.ownerReferences ?? [];
  const added = ownersOf(requests).filter(({ uid }) => !before.some((owner) => owner.uid === uid));
  return {
    labels: { ...metadata.labels, ...roleLabels(requesters, responders) },
    ownerReferences: [...before, ...added],
  };
}

/** Undefined where nothing changes. */
export function changedMetadata(eviction: Eviction, requests: readonly EvictionRequest[]): Metadata | undefined {
  const next = nextMetadata(eviction, requests);
  const { labels = {}, ownerReferences = [] } = eviction.metadata;
  return semanticEqual(next, { labels, ownerReferences }) ? undefined : next;
}

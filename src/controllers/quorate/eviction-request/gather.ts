import { controllerOf } from '../../../api/core/owner.ts';
import { isMirrorPod, isPodFinished } from '../../../api/core/pod-state.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import type { Eviction, EvictionRequest } from '../../../api/generated/lifecycle-v1alpha1.ts';
import { DEFAULT_RESPONDER, evictionRequestType, evictionType } from '../../../api/lifecycle/index.ts';
import { formatKey, type ObjectKey } from '../../../api/resource.ts';
import { podType } from '../../../api/resource-types.ts';
import {
  activeTurn,
  type EvictionTargetRef,
  isOver,
  isSeen,
  type TargetFacts,
  type TargetPod,
  turnsOf,
  wantsGone,
} from '../../../decisions/eviction-requests/index.ts';
import { BY_TARGET } from '../../shared/eviction-targets.ts';
import { existing } from '../../../machinery/runtime/index.ts';
import { BY_POD_NAME, type EvictionRequestDeps, type TargetMemory, placeOf, targetOf } from './deps.ts';

export interface Gathered extends TargetFacts {
  /** The pod itself. */
  readonly object: Pod | undefined;
}

/** Everything that decides what becomes of a target. What would set off something new is read anew, not from a cache. */
export async function gatherFacts(deps: EvictionRequestDeps, key: ObjectKey, memory: TargetMemory): Promise<Gathered> {
  const target = targetOf(key);
  const requests = await readRequests(deps, key);
  const evictions = await readEvictions(deps, key, memory);
  const isSettled = requests.every(isSeen) && evictions.length > 0 && evictions.every(isOver);
  const object = isSettled ? undefined : await readPod(deps, target);
  const called = deps.evictions.byIndex(BY_POD_NAME, `${target.namespace}/${target.name}`);
  const names = [...called, ...evictions].map(({ metadata }) => metadata.name ?? '');
  const pod = object && { ...factOf(object), noticeResponder: await speakerOf(deps, object, evictions) };
  return { now: deps.clock.now(), target, requests, evictions, names, object, pod };
}

/** A request that was not answered yet may begin a new Eviction: it is answered only once. */
async function readRequests({ client, requests }: EvictionRequestDeps, key: ObjectKey): Promise<EvictionRequest[]> {
  const read: EvictionRequest[] = [];
  for (const request of requests.byIndex(BY_TARGET, formatKey(key))) {
    const fresh = isSeen(request) ? request : await existing(client.get(evictionRequestType, placeOf(request)));
    if (fresh !== undefined) read.push(fresh);
  }
  return read.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}

/** Several write the status of one that is under way. */
async function readEvictions(
  { client, evictions }: EvictionRequestDeps,
  key: ObjectKey,
  memory: TargetMemory,
): Promise<Eviction[]> {
  const known = evictions.byIndex(BY_TARGET, formatKey(key));
  const { made } = memory;
  const isKnown = known.some(({ metadata }) => metadata.uid === made?.metadata.uid);
  if (isKnown) delete memory.made;
  const read: Eviction[] = [];
  for (const eviction of made === undefined || isKnown ? known : [...known, made]) {
    const fresh = isOver(eviction) ? eviction : await existing(client.get(evictionType, placeOf(eviction)));
    if (fresh !== undefined && fresh.metadata.uid === eviction.metadata.uid) read.push(fresh);
    else if (eviction === made) delete memory.made;
  }
  return read;
}

/** Caches of a cluster's operator have less of a pod than is asked here, and that it is gone only the server knows. */
async function readPod({ client }: EvictionRequestDeps, target: EvictionTargetRef): Promise<Pod | undefined> {
  const { name, namespace, uid } = target;
  const read = await existing(client.get(podType, { namespace, name }));
  return read?.metadata.uid === uid ? read : undefined;
}

/** Asked for where it decides something: before the first turn, and while others than the default one have theirs. */
async function speakerOf(
  { groups }: EvictionRequestDeps,
  pod: Pod,
  evictions: readonly Eviction[],
): Promise<string | undefined> {
  const open = evictions.find((eviction) => !isOver(eviction));
  const active = activeTurn(turnsOf(open?.status ?? {}));
  return active?.name === DEFAULT_RESPONDER ? undefined : groups?.responderOf(pod);
}

function factOf(pod: Pod): TargetPod {
  return {
    finished: isPodFinished(pod),
    going: Boolean(pod.metadata.deletionTimestamp),
    responders: pod.spec?.evictionResponders ?? [],
    staysBecause: staysBecause(pod),
  };
}

function staysBecause(pod: Pod): string | undefined {
  if (isMirrorPod(pod)) return 'it is a static pod, which its node makes again';
  return controllerOf(pod)?.kind === 'DaemonSet' ? 'its DaemonSet would make it again at once' : undefined;
}

/** Whether somebody still wants the pod gone, by what the server says now. */
export async function isStillAsked(
  { client }: EvictionRequestDeps,
  requests: readonly EvictionRequest[],
): Promise<boolean> {
  for (const request of requests.filter(wantsGone)) {
    const fresh = await existing(client.get(evictionRequestType, placeOf(request)));
    if (fresh !== undefined && fresh.metadata.uid === request.metadata.uid && wantsGone(fresh)) return true;
  }
  return false;
}

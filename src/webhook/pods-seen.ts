/** Whether a replica's copy of the pods is new enough to decide by. */
import { keyOf, type KubeObject, type ResourceType } from '../api/resource.ts';
import { podType } from '../api/resource-types.ts';
import { type Client, type Clock, sleep } from '../machinery/runtime/index.ts';
import { isAsNewAs } from '../machinery/values/index.ts';

export interface PodsFollower {
  readonly clock: Clock;
  /** The resourceVersion that the pods known here are at least as new as. */
  readonly podsResourceVersion: () => string;
}

export interface NamespaceFollower extends PodsFollower {
  readonly client: Client;
  /** The pods of a namespace, or of all, that are known here. */
  readonly podsIn: (namespace?: string) => readonly Pick<KubeObject, 'metadata'>[];
}

const STEP_MS = 20;
const LIMIT_MS = 2000;

/**
 * Whether our pods are as new as those that numbers were computed from. The controller forgets a granted pod once it
 * sees it go; a replica that does not see that yet would count the pod as healthy.
 */
export function hasSeen(
  follower: PodsFollower,
  wanted: string | undefined,
  signal: AbortSignal,
  limitMs = LIMIT_MS,
): Promise<boolean> {
  return comesTrue(follower, () => sees(follower, wanted), signal, limitMs);
}

export function sees({ podsResourceVersion }: PodsFollower, wanted: string | undefined): boolean {
  return wanted === undefined || wanted === '' || isAsNewAs(podsResourceVersion(), wanted);
}

/**
 * Whether our pods of a namespace, or of all, are as new as the API server's: what was evicted until now shows in them. The pods
 * themselves are compared, because the version of a list grows with every write of anything, and where pods seldom
 * change our own follows only once a minute.
 */
export async function sawPodsOfNow(
  follower: NamespaceFollower,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const listed = await listVersions(follower.client, podType, namespace);
  return comesTrue(follower, () => shows(follower.podsIn(namespace), listed), signal);
}

/** Likewise for all objects of a kind, in a copy of them. */
export async function sawAllOfNow(
  { client, clock }: { readonly client: Client; readonly clock: Clock },
  copy: { readonly type: ResourceType; list(): readonly Pick<KubeObject, 'metadata'>[] },
  signal: AbortSignal,
): Promise<boolean> {
  const listed = await listVersions(client, copy.type, undefined);
  return comesTrue({ clock }, () => shows(copy.list(), listed), signal);
}

async function comesTrue(
  { clock }: Pick<PodsFollower, 'clock'>,
  holds: () => boolean,
  signal: AbortSignal,
  limitMs = LIMIT_MS,
): Promise<boolean> {
  const deadline = clock.elapsed() + limitMs;
  while (!holds()) {
    if (clock.elapsed() >= deadline) return false;
    await sleep(clock, STEP_MS, signal);
  }
  return true;
}

interface ListedVersions {
  readonly resourceVersion: string;
  /** Of each object, by namespace and name. */
  readonly versions: ReadonlyMap<string, string>;
}

async function listVersions(
  client: Client,
  type: ResourceType,
  namespace: string | undefined,
): Promise<ListedVersions> {
  const versions = new Map<string, string>();
  let resourceVersion = '';
  let token: string | undefined;
  do {
    const options = { namespace, metadataOnly: true, limit: client.pageSize, continue: token };
    const { items, metadata } = await client.list(type, options);
    for (const one of items) versions.set(keyOf(one), one.metadata.resourceVersion ?? '');
    ({ resourceVersion } = metadata);
    token = metadata.continue || undefined;
  } while (token !== undefined);
  return { resourceVersion, versions };
}

/** Whether we know every listed pod as it was then or newer, and of no other but those that came since. */
function shows(known: readonly Pick<KubeObject, 'metadata'>[], { resourceVersion, versions }: ListedVersions): boolean {
  let found = 0;
  for (const pod of known) {
    const listed = versions.get(keyOf(pod));
    if (!isAsNewAs(pod.metadata.resourceVersion ?? '', listed ?? resourceVersion)) return false;
    if (listed !== undefined) found += 1;
  }
  return found === versions.size;
}

import { controllerOf } from '../../../api/core/owner.ts';
import { isPodActive } from '../../../api/core/pod-state.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { podType } from '../../../api/resource-types.ts';
import { type Client, isExpired, type WatchEvent } from '../../../machinery/runtime/index.ts';
import { parseTime } from '../../../machinery/values/index.ts';
import type { RecordDeps } from './deps.ts';
import { BY_OWNER, type Sighting } from './seen.ts';
import { describeDeparture } from './tracker.ts';

/** A watch over what is past is given up after this time: no event says that it has come to now. */
const LIMIT_SECONDS = 2;

export interface LookedBack {
  readonly sightings: readonly Sighting[];
  /** The API server does not remember so long: only pods that are still going were found. */
  readonly isIncomplete: boolean;
}

type Events = readonly WatchEvent<Pod>[];

/** The pods that went while nobody kept the record: those of a watch from where the last keeper had come. */
export async function lookBack(deps: RecordDeps, reached: string): Promise<LookedBack> {
  const { client, pods, recorder } = deps;
  const events = await eventsSince(client, reached, pods.resourceVersion);
  const seen = new Set<string>();
  const sightings: Sighting[] = [];
  const isNew = ({ metadata: { uid = '' } }: Pod): boolean => {
    const isFirst = !seen.has(uid) && !recorder.knows(uid);
    seen.add(uid);
    return isFirst;
  };
  for (const [at, { object, type }] of (events ?? []).entries()) {
    const goes = type === 'DELETED' || object.metadata.deletionTimestamp !== undefined;
    if (goes && isNew(object))
      sightings.push(sightingOf(deps, object, siblingsThen(deps, object, events?.slice(at + 1))));
  }
  if (events !== undefined) return { sightings, isIncomplete: false };
  for (const pod of pods.list()) {
    if (pod.metadata.deletionTimestamp !== undefined && isNew(pod)) sightings.push(sightingOf(deps, pod, undefined));
  }
  return { sightings, isIncomplete: true };
}

function sightingOf(deps: RecordDeps, pod: Pod, siblings: number | undefined): Sighting {
  const { clock, index, tracker } = deps;
  const { name = '', namespace = '', uid } = pod.metadata;
  const isThere = index.pod(namespace, name)?.uid === uid;
  const group = (isThere ? tracker.groupOf(namespace, name) : undefined) ?? tracker.groupOfGone(pod);
  const now = clock.now();
  const { deletionGracePeriodSeconds = 0, deletionTimestamp } = pod.metadata;
  // A graceful deletion is dated at its end.
  const asked = (parseTime(deletionTimestamp) ?? now) - (deletionGracePeriodSeconds ?? 0) * 1000;
  const departure = describeDeparture(deps, { pod, before: pod, group, at: Math.min(asked, now) });
  return { kind: 'Went', pod, siblings, departure };
}

/** How many pods its owner had then: those of now, without what came since, with what went since. */
function siblingsThen({ pods }: RecordDeps, pod: Pod, later: Events = []): number | undefined {
  const owner = controllerOf(pod)?.uid;
  if (owner === undefined) return undefined;
  const gone = new Set<string>();
  let count = pods.byIndex(BY_OWNER, owner).filter(isPodActive).length;
  for (const { object, type } of later) {
    const { deletionTimestamp, uid = '' } = object.metadata;
    if (controllerOf(object)?.uid !== owner || uid === pod.metadata.uid) continue;
    if (type === 'ADDED') count -= 1;
    else if ((type === 'DELETED' || deletionTimestamp !== undefined) && !gone.has(uid)) {
      gone.add(uid);
      count += 1;
    }
  }
  return count;
}

/** Undefined where the API server has forgotten. */
async function eventsSince(client: Client, from: string, until: string): Promise<Events | undefined> {
  const events: WatchEvent<Pod>[] = [];
  if (!isOlder(from, until)) return events;
  try {
    const watching = client.watch(podType, { resourceVersion: from, timeoutSeconds: LIMIT_SECONDS });
    for await (const event of watching) {
      if (event.type !== 'BOOKMARK') events.push(event);
      if (!isOlder(event.object.metadata.resourceVersion ?? '', until)) break;
    }
    return events;
  } catch (error) {
    if (isExpired(error)) return undefined;
    throw error;
  }
}

/** Versions of one resource are numbers that grow. */
const isOlder = (a: string, b: string): boolean => a.length < b.length || (a.length === b.length && a < b);

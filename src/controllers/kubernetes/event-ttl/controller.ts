import type { Event } from '../../../api/generated/core-v1.ts';
import type { KubeObject } from '../../../api/resource.ts';
import { eventType } from '../../../api/resource-types.ts';
import {
  type Client,
  type ControllerContext,
  defineController,
  Informer,
  isNotFound,
} from '../../../machinery/runtime/index.ts';
import { parseTime } from '../../../machinery/values/index.ts';

const TTL_MS = 60 * 60_000;
const SWEEP_MS = 60_000;
const AT_ONCE = 20;

/** The last time an event was said. */
export function lastSaid({ eventTime, lastTimestamp, metadata, series }: Event): number {
  const times = [series?.lastObservedTime, lastTimestamp, eventTime, metadata.creationTimestamp];
  return Math.max(0, ...times.map((time) => parseTime(time) ?? 0));
}

/** Forgets events an hour after they were last said. A real cluster's store does this by itself. */
export const eventTtlController = defineController({
  name: 'event-ttl',
  deps(context) {
    const { client, clock, log, signal } = context;
    const events = new Informer<Event>({ client, clock, log, type: eventType, transform: timesOnly });
    events.start(signal);
    return { context, events };
  },
  passes: [{ everyMs: SWEEP_MS, pass: sweep }],
});

interface Deps {
  readonly context: ControllerContext;
  readonly events: Informer<Event>;
}

async function sweep({ context: { client, clock, log, signal }, events }: Deps): Promise<void> {
  const now = clock.now();
  const old = events.list().filter((event) => lastSaid(event) + TTL_MS <= now);
  for (let at = 0; at < old.length && !signal.aborted; at += AT_ONCE) {
    const removed = old.slice(at, at + AT_ONCE).map(({ metadata }) => remove(client, metadata));
    for (const outcome of await Promise.allSettled(removed)) {
      if (outcome.status === 'rejected')
        log.debug(
          { controller: 'event-ttl', error: String(outcome.reason) },
          'cannot delete an old event; trying again later',
        );
    }
  }
}

async function remove(
  client: Client,
  { namespace, name = '', uid, resourceVersion }: KubeObject['metadata'],
): Promise<void> {
  try {
    // Said again since: it stays.
    await client.delete(eventType, { namespace, name }, { preconditions: { uid, resourceVersion } });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

function timesOnly({ apiVersion, kind, metadata, eventTime, lastTimestamp, series, involvedObject }: Event): Event {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const kept = { name, namespace, uid, resourceVersion, creationTimestamp };
  const { kind: regarded } = involvedObject;
  return { apiVersion, kind, metadata: kept, eventTime, lastTimestamp, series, involvedObject: { kind: regarded } };
}

import type { KubeObject } from '../../api/resource.ts';
import { formatTime, randomSuffix, type Random } from '../values/index.ts';
import { isNamespaceTerminating, isNotFound } from './api-error.ts';
import type { Client } from './client.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './log.ts';

export type EventType = 'Normal' | 'Warning';

export interface EventRecorder {
  /** Records that something happened to an object. Never throws and never waits. */
  record(object: KubeObject, type: EventType, reason: string, message: string): void;
}

export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly random: Random;
  readonly component: string;
}

interface Seen {
  name: string;
  count: number;
  firstTimestamp: string;
  /** Writes of one event go out in order. */
  last: Promise<void>;
}

const MAX_REMEMBERED = 4096;
/** Of one reason about one object: this many at once, then one per interval. Five thousand pods need no event each. */
const SPAM_BURST = 25;
const SPAM_INTERVAL_MS = 5 * 60_000;
const MESSAGE_BYTES = 1024;

/** Writes core/v1 Events. The same thing said again of the same object raises the count of one Event. */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder {
  const { client, clock, component, log, random } = options;
  const seen = new Map<string, Seen>();
  const allowances = new Map<string, { tokens: number; at: number }>();

  return {
    record(object, type, reason, message) {
      const { apiVersion = '', kind = '', metadata } = object;
      const text = message.slice(0, MESSAGE_BYTES);
      const subject = JSON.stringify([kind, metadata.uid, metadata.namespace, metadata.name, reason]);
      if (isSpam(subject)) return;
      const id = subject + JSON.stringify([type, text]);
      const now = formatTime(clock.now());
      const namespace = metadata.namespace || 'default';
      const known = seen.get(id);
      if (known !== undefined) {
        known.count += 1;
        const { count } = known;
        const path = `/api/v1/namespaces/${namespace}/events/${known.name}`;
        known.last = known.last.then(() =>
          send('PATCH', path, { count, lastTimestamp: now }, { 'content-type': 'application/merge-patch+json' }).then(
            (gone) => {
              if (gone) seen.delete(id);
            },
          ),
        );
        return;
      }
      if (seen.size >= MAX_REMEMBERED) seen.delete(seen.keys().next().value as string);
      const name = `${metadata.name ?? ''}.${randomSuffix(random, 16)}`;
      const body = {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name, namespace },
        involvedObject: {
          apiVersion,
          kind,
          name: metadata.name,
          namespace: metadata.namespace,
          uid: metadata.uid,
          resourceVersion: metadata.resourceVersion,
        },
        reason,
        message: text,
        type,
        source: { component },
        reportingComponent: component,
        reportingInstance: '',
        firstTimestamp: now,
        lastTimestamp: now,
        count: 1,
        eventTime: null,
      };
      const last = send('POST', `/api/v1/namespaces/${namespace}/events`, body).then(() => {});
      seen.set(id, { name, count: 1, firstTimestamp: now, last });
    },
  };

  function isSpam(subject: string): boolean {
    const at = clock.elapsed();
    const known = allowances.get(subject) ?? { tokens: SPAM_BURST, at };
    const tokens = Math.min(SPAM_BURST, known.tokens + (at - known.at) / SPAM_INTERVAL_MS);
    allowances.delete(subject);
    allowances.set(subject, { tokens: tokens < 1 ? tokens : tokens - 1, at });
    if (allowances.size > MAX_REMEMBERED) allowances.delete(allowances.keys().next().value as string);
    return tokens < 1;
  }

  /** Answers true when the event (or its namespace) is gone. An event that cannot be written is only logged. */
  async function send(method: string, path: string, body: unknown, headers?: Record<string, string>): Promise<boolean> {
    try {
      await client.request(method, path, body, headers);
      return false;
    } catch (error) {
      if (isNotFound(error) || isNamespaceTerminating(error)) return true;
      log.debug({ component, error: String(error) }, 'an event could not be written');
      return false;
    }
  }
}

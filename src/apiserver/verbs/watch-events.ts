/** Changes in the form a watcher asked for: bytes for the network, shared objects for a reader in this process. */
import { deepClone } from '../../machinery/values/index.ts';
import type { SharedEvent } from '../../machinery/runtime/index.ts';
import type { StoredEntry, StoreEvent } from '../../storage/index.ts';
import type { Call } from '../context/call.ts';
import type { StreamSink } from '../exchange/exchange.ts';
import type { ApiObject } from '../exchange/object.ts';
import type { Accepted } from '../request/negotiate.ts';
import type { Selection } from './selection.ts';
import { partialMetadata } from '../response/partial.ts';
import { includeObjectOption, findStored, tableLayoutOf, tableOf, tableSource } from '../response/table.ts';
import { converting } from '../stored/converting.ts';
import { inVersion, isStoredForm } from '../stored/encoding.ts';
import { documentLine, shownEntry, typeOf, type WatchType, watchLine } from '../stored/watch-lines.ts';

const INITIAL_CHUNK_BYTES = 64 * 1024;
const INITIAL_BATCH = 500;
const CONVERTED_AT_ONCE = 200;

export interface WatchForm {
  readonly selection: Selection;
  readonly accepted: Accepted;
}

export interface EventWriter {
  /** Sends the current state no faster than it is read. */
  initial(entries: readonly StoredEntry[], isOpen: () => boolean): Promise<void>;
  events(events: readonly StoreEvent[]): void;
  /** Something that is no change of an object. */
  document(type: 'BOOKMARK' | 'ERROR', object: unknown): void;
}

/** What a watcher with this selection sees of a change; undefined: nothing. */
function seenChange(event: StoreEvent, selection: Selection): { type: WatchType; before: boolean } | undefined {
  if (selection.all) return { type: typeOf(event), before: false };
  const was = event.previous !== undefined && selection.matches(event.previous);
  const is = event.type === 'put' && event.entry !== undefined && selection.matches(event.entry);
  if (is) return { type: was ? 'MODIFIED' : 'ADDED', before: false };
  // Leaving the selection looks like a deletion: the old content with the revision of the change.
  return was ? { type: 'DELETED', before: event.type === 'put' } : undefined;
}

/** `fail` is told what goes wrong after a call has returned. */
export function eventWriter(
  call: Call,
  form: WatchForm,
  { sink, fail }: { readonly sink: StreamSink; readonly fail: (error: unknown) => void },
): EventWriter {
  const found = call.context.registry.find(call.resource.group, call.version.name, call.resource.plural);
  const tally = found === undefined ? NOBODY : call.context.meters.requests.watchTally(found);
  const writer =
    sink.events === undefined
      ? byteWriter(call, form, { sink, tally })
      : sharedWriter(call, form, { send: sink.events, tally });
  return call.version.learn === undefined ? writer : convertingWriter(call, writer, fail);
}

/** Everything in its turn, each when a webhook has converted it. */
function convertingWriter(call: Call, writer: EventWriter, fail: (error: unknown) => void): EventWriter {
  const { objects } = call.context;
  let last: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  };
  return {
    initial: (entries, isOpen) =>
      inTurn(async () => {
        for (let at = 0; at < entries.length && isOpen(); at += CONVERTED_AT_ONCE) {
          const page = entries.slice(at, at + CONVERTED_AT_ONCE);
          await call.version.learn?.(page.map((entry) => objects.read(entry)));
          await writer.initial(page, isOpen);
        }
      }),
    events(events) {
      for (const event of events) inTurn(async () => converting(() => writer.events([event]))).catch(fail);
    },
    document(type, object) {
      // An error is the end: nothing that still waits comes after it.
      if (type === 'ERROR') writer.document(type, object);
      else inTurn(async () => writer.document(type, object)).catch(fail);
    },
  };
}

const leaving = (old: ApiObject, revision: number): ApiObject => ({
  ...old,
  metadata: { ...old.metadata, resourceVersion: String(revision) },
});

/** The kind went while somebody asked for it. */
const NOBODY = { events: 0 };

interface Tally {
  events: number;
}

function byteWriter(
  call: Call,
  form: WatchForm,
  { sink, tally }: { readonly sink: StreamSink; readonly tally: Tally },
): EventWriter {
  const { context, resource, version } = call;
  const plain = form.accepted.transform === undefined && isStoredForm(resource, version);
  const encode = plain ? undefined : objectEncoder(call, form);
  const left = (event: StoreEvent): ApiObject =>
    leaving(context.objects.read(event.previous as StoredEntry), event.revision);

  return {
    async initial(entries, isOpen) {
      let parts: Uint8Array[] = [];
      let bytes = 0;
      for (const entry of entries) {
        const line =
          encode === undefined
            ? watchLine('ADDED', entry.value)
            : documentLine('ADDED', encode(context.objects.read(entry)));
        parts.push(line);
        tally.events += 1;
        bytes += line.length;
        if (bytes < INITIAL_CHUNK_BYTES) continue;
        sink.write(Buffer.concat(parts));
        parts = [];
        bytes = 0;
        const wait = sink.ready();
        if (wait !== undefined) await wait;
        if (!isOpen()) return;
      }
      if (parts.length > 0) sink.write(Buffer.concat(parts));
    },
    events(events) {
      if (encode === undefined && form.selection.all) {
        tally.events += events.length;
        sink.write(context.lines.batch(events));
        return;
      }
      const lines: Uint8Array[] = [];
      for (const event of events) {
        const change = seenChange(event, form.selection);
        if (change === undefined) continue;
        if (encode === undefined) {
          const bytes = change.before ? Buffer.from(JSON.stringify(left(event))) : shownEntry(event).value;
          lines.push(watchLine(change.type, bytes));
        } else {
          const object = change.before ? left(event) : context.objects.read(shownEntry(event));
          lines.push(documentLine(change.type, encode(object)));
        }
      }
      tally.events += lines.length;
      if (lines.length === 1) sink.write(lines[0] as Uint8Array);
      else if (lines.length > 1) sink.write(Buffer.concat(lines));
    },
    document(type, object) {
      tally.events += 1;
      sink.write(documentLine(type, object));
    },
  };
}

function sharedWriter(
  call: Call,
  { accepted, selection }: WatchForm,
  { send, tally }: { readonly send: (events: readonly SharedEvent[]) => void; readonly tally: Tally },
): EventWriter {
  const { objects } = call.context;
  const shown = (stored: ApiObject): ApiObject => {
    const object = inVersion(call, stored, deepClone);
    return accepted.transform === undefined ? object : partialMetadata(object, accepted.transformVersion);
  };
  return {
    async initial(entries) {
      for (let at = 0; at < entries.length; at += INITIAL_BATCH) {
        const page = entries.slice(at, at + INITIAL_BATCH);
        tally.events += page.length;
        send(page.map((entry) => ({ type: 'ADDED', object: shown(objects.readWithoutManagedFields(entry)) })));
      }
    },
    events(events) {
      const seen: SharedEvent[] = [];
      for (const event of events) {
        const change = seenChange(event, selection);
        if (change === undefined) continue;
        const stored = objects.readWithoutManagedFields(
          change.before ? (event.previous as StoredEntry) : shownEntry(event),
        );
        seen.push({ type: change.type, object: shown(change.before ? leaving(stored, event.revision) : stored) });
      }
      tally.events += seen.length;
      if (seen.length > 0) send(seen);
    },
    document(type, object) {
      tally.events += 1;
      send([{ type, object }]);
    },
  };
}

/** Objects in another version, as one-row tables or as metadata only. */
function objectEncoder(call: Call, { accepted }: WatchForm): (stored: ApiObject) => unknown {
  const { resource, version, context } = call;
  const include = includeObjectOption(call.options.query);
  let columnsSent = false;
  return (stored) => {
    const object = inVersion(call, stored, deepClone);
    if (accepted.transform === undefined) return object;
    if (accepted.transform !== 'Table') return partialMetadata(object, accepted.transformVersion);
    const table = tableOf([object], {
      layout: tableLayoutOf(resource, version),
      stored: tableSource(resource, version, [stored]),
      find: findStored(context),
      now: context.clock.now(),
      include,
      apiVersion: `meta.k8s.io/${accepted.transformVersion}`,
      metadata: { resourceVersion: object.metadata.resourceVersion ?? '' },
      withoutColumns: columnsSent,
    });
    columnsSent = true;
    return table;
  };
}

import { deepClone } from '../../machinery/values/index.ts';
import { CompactedError, type Entry, type StoreEvent } from '../../storage/index.ts';
import type { Call } from '../call.ts';
import type { ApiResponse, StreamSink } from '../exchange.ts';
import type { ApiObject } from '../object.ts';
import { apiVersion, collectionPrefix } from '../registry/row.ts';
import { type Accepted, negotiate, type Transform } from '../request/negotiate.ts';
import { booleanOption, integerOption } from '../request/options.ts';
import { parseInitialEvents, parseRevision, waitForRevision } from '../request/revision.ts';
import { parseSelection, type Selection } from '../request/selection.ts';
import { partialMetadata } from '../response/partial.ts';
import { withWarnings } from '../response/respond.ts';
import { includeObjectOption, tableLayoutOf, tableOf, tableSource } from '../response/table.ts';
import { expired } from '../status.ts';
import { inVersion, isStoredForm } from '../stored/encoding.ts';
import { documentLine, shownEntry, typeOf, type WatchType, watchLine } from '../stored/watch-lines.ts';
import { current } from './list.ts';

const WATCH_TRANSFORMS: ReadonlySet<Transform> = new Set<Transform>(['Table', 'PartialObjectMetadata']);
const BOOKMARK_EVERY_MS = 60_000;
const LAST_BOOKMARK_MS = 2000;
const MIN_TIMEOUT_MS = 30 * 60_000;
const INITIAL_CHUNK_BYTES = 64 * 1024;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

interface WatchPlan {
  readonly prefix: string;
  readonly selection: Selection;
  readonly accepted: Accepted;
  /** Start with the current state instead of after a revision. */
  readonly initial: boolean;
  /** Say when the current state has been sent. */
  readonly markEnd: boolean;
  readonly after: number;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
}

export async function watch(call: Call): Promise<ApiResponse> {
  const { kernel, row, info } = call;
  const { query } = call.options;
  const accepted = negotiate(call.request.headers['accept'], { allowed: WATCH_TRANSFORMS });
  const selection = parseSelection(query, { row, objects: kernel.objects, pathName: info.name });
  const revision = parseRevision(query.get('resourceVersion'));
  const sendInitial = parseInitialEvents(query);
  const bookmarks = booleanOption(query, 'allowWatchBookmarks') ?? false;
  const initial = sendInitial ?? (revision === undefined || revision === 0);
  if (sendInitial === true && revision !== undefined) await waitForRevision(kernel, revision, call.request.signal);
  const asked = integerOption(query, 'timeoutSeconds') ?? 0;
  const plan: WatchPlan = {
    prefix: collectionPrefix(row, info.namespace ?? (row.namespaced ? selection.namespace : undefined)),
    selection,
    accepted,
    initial,
    markEnd: sendInitial === true && bookmarks,
    after: revision === undefined || revision === 0 ? kernel.store.revision : revision,
    bookmarks,
    timeoutMs: asked > 0 ? asked * 1000 : MIN_TIMEOUT_MS * (1 + kernel.random()),
  };
  return {
    status: 200,
    headers: withWarnings({ 'content-type': 'application/json' }, call.warnings),
    body: (sink) => startWatch(call, plan, sink),
  };
}

function startWatch(call: Call, plan: WatchPlan, sink: StreamSink): () => void {
  const { kernel } = call;
  const { store, clock } = kernel;
  const write = eventWriter(call, plan, sink);
  const cancels: (() => void)[] = [];
  let open = true;
  const stop = (): void => {
    if (!open) return;
    open = false;
    for (const cancel of cancels) cancel();
    kernel.streams.delete(end);
  };
  const end = (): void => {
    stop();
    sink.end();
  };
  kernel.streams.add(end);
  // A custom resource whose definition changed or went has another row or none: the client must look again.
  if (call.row.custom) {
    const { group, version, plural } = call.info;
    cancels.push(
      kernel.registry.onChange(() => {
        const row = kernel.registry.find(group, version, plural)?.row;
        // A definition being deleted takes nothing new, but the deletion of its objects is still to be seen.
        if (row === undefined || (row !== call.row && row.verbs.includes('create'))) end();
      }),
    );
  }

  const bookmark = (): void => {
    if (held === undefined) sink.write(bookmarkLine(call, plan, store.revision));
  };
  // While the current state is still going out, changes wait their turn.
  let held: (readonly StoreEvent[])[] | undefined = plan.initial ? [] : undefined;
  const snapshot = store.revision;
  const sendInitial = async (): Promise<void> => {
    await write.initial(current(call, plan.prefix, plan.selection), () => open);
    if (!open) return;
    if (plan.markEnd) sink.write(bookmarkLine(call, plan, snapshot, { [INITIAL_EVENTS_END]: 'true' }));
    for (const events of held ?? []) write.events(events);
    held = undefined;
  };
  try {
    cancels.push(
      store.watch(plan.prefix, plan.initial ? snapshot : plan.after, (events) => {
        if (!open) return;
        if (held === undefined) write.events(events);
        else held.push(events);
      }),
    );
    if (plan.initial) void sendInitial();
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    const { status } = expired(`too old resource version: ${error.requested} (${error.oldest})`);
    sink.write(documentLine('ERROR', status));
    end();
    return stop;
  }
  if (plan.bookmarks) {
    let cancelNext = (): void => {};
    const again = (): void => {
      bookmark();
      cancelNext = clock.after(BOOKMARK_EVERY_MS, again);
    };
    cancelNext = clock.after(BOOKMARK_EVERY_MS, again);
    cancels.push(() => cancelNext());
    if (plan.timeoutMs > LAST_BOOKMARK_MS)
      cancels.push(clock.after(plan.timeoutMs - LAST_BOOKMARK_MS, () => bookmark()));
  }
  cancels.push(clock.after(plan.timeoutMs, end));
  // A definition that goes takes its watches along.
  const { group, plural } = call.row;
  cancels.push(
    kernel.registry.onChange(() => {
      if (kernel.registry.find(group, call.version.name, plural) === undefined) end();
    }),
  );
  return stop;
}

function bookmarkLine(call: Call, plan: WatchPlan, revision: number, annotations?: Record<string, string>): Buffer {
  return documentLine('BOOKMARK', bookmarkObject(call, plan, revision, annotations));
}

function bookmarkObject(
  { row, version }: Call,
  { accepted }: WatchPlan,
  revision: number,
  annotations: Record<string, string> | undefined,
): object {
  const metadata = { resourceVersion: String(revision), ...(annotations && { annotations }) };
  if (accepted.transform === 'PartialObjectMetadata') {
    return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${accepted.transformVersion}`, metadata };
  }
  const object = { kind: row.kind, apiVersion: apiVersion(row.group, version.name), metadata };
  if (accepted.transform !== 'Table') return object;
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${accepted.transformVersion}`,
    metadata: { resourceVersion: metadata.resourceVersion },
    columnDefinitions: null,
    rows: [{ cells: [], object }],
  };
}

interface EventWriter {
  /** Sends the current state no faster than it is read. */
  initial(entries: readonly Entry[], isOpen: () => boolean): Promise<void>;
  events(events: readonly StoreEvent[]): void;
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

function eventWriter(call: Call, plan: WatchPlan, sink: StreamSink): EventWriter {
  const { kernel, row, version } = call;
  const plain = plan.accepted.transform === undefined && isStoredForm(row, version);
  const encode = plain ? undefined : objectEncoder(call, plan);

  const leaving = (event: StoreEvent): ApiObject => {
    const old = kernel.objects.read(event.previous as Entry);
    return { ...old, metadata: { ...old.metadata, resourceVersion: String(event.revision) } };
  };

  return {
    async initial(entries, isOpen) {
      let parts: Uint8Array[] = [];
      let bytes = 0;
      for (const entry of entries) {
        const line =
          encode === undefined
            ? watchLine('ADDED', entry.value)
            : documentLine('ADDED', encode(kernel.objects.read(entry)));
        parts.push(line);
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
      if (encode === undefined && plan.selection.all) {
        sink.write(kernel.lines.batch(events));
        return;
      }
      const lines: Uint8Array[] = [];
      for (const event of events) {
        const change = seenChange(event, plan.selection);
        if (change === undefined) continue;
        if (encode === undefined) {
          const bytes = change.before ? Buffer.from(JSON.stringify(leaving(event))) : shownEntry(event).value;
          lines.push(watchLine(change.type, bytes));
        } else {
          const object = change.before ? leaving(event) : kernel.objects.read(shownEntry(event));
          lines.push(documentLine(change.type, encode(object)));
        }
      }
      if (lines.length === 1) sink.write(lines[0] as Uint8Array);
      else if (lines.length > 1) sink.write(Buffer.concat(lines));
    },
  };
}

/** Objects in another version, as one-row tables or as metadata only. */
function objectEncoder(call: Call, { accepted }: WatchPlan): (stored: ApiObject) => unknown {
  const { row, version, kernel } = call;
  const include = includeObjectOption(call.options.query);
  let columnsSent = false;
  return (stored) => {
    const object = inVersion(call, stored, deepClone);
    if (accepted.transform === undefined) return object;
    if (accepted.transform !== 'Table') return partialMetadata(object, accepted.transformVersion);
    const table = tableOf([object], {
      layout: tableLayoutOf(row, version),
      stored: tableSource(row, version, [stored]),
      now: kernel.clock.now(),
      include,
      apiVersion: `meta.k8s.io/${accepted.transformVersion}`,
      metadata: { resourceVersion: object.metadata.resourceVersion ?? '' },
      withoutColumns: columnsSent,
    });
    columnsSent = true;
    return table;
  };
}

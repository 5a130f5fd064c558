import { CompactedError, type StoreEvent } from '../../storage/index.ts';
import type { Call } from '../call.ts';
import type { ApiResponse, StreamSink } from '../exchange.ts';
import { apiVersion, collectionPrefix } from '../registry/row.ts';
import { negotiate, type Transform } from '../request/negotiate.ts';
import { booleanOption, integerOption } from '../request/options.ts';
import { parseInitialEvents, parseRevision, waitForRevision } from '../request/revision.ts';
import { parseSelection } from '../request/selection.ts';
import { withWarnings } from '../response/warnings.ts';
import { expired, internalError } from '../status.ts';
import { current } from './list.ts';
import { eventWriter, type WatchForm } from './watch-events.ts';

const WATCH_TRANSFORMS: ReadonlySet<Transform> = new Set<Transform>(['Table', 'PartialObjectMetadata']);
const BOOKMARK_EVERY_MS = 60_000;
const LAST_BOOKMARK_MS = 2000;
const MIN_TIMEOUT_MS = 30 * 60_000;
const INITIAL_EVENTS_END = 'k8s.io/initial-events-end';

interface WatchPlan extends WatchForm {
  readonly prefix: string;
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
  const bookmarkNow = (revision: number, annotations?: Record<string, string>): void =>
    write.document('BOOKMARK', bookmarkObject(call, plan, revision, annotations));
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
  // An event that cannot be sent must not be missed in silence: the client is told and lists again.
  const fail = (error: unknown): void => {
    const { method, url } = call.request;
    kernel.log.error({ err: error, method, path: url.split('?', 1)[0] }, 'a watch failed');
    if (!open) return;
    write.document('ERROR', internalError('an event could not be sent').status);
    end();
  };
  const guarded =
    <A extends readonly unknown[]>(work: (...given: A) => void) =>
    (...given: A): void => {
      try {
        work(...given);
      } catch (error) {
        fail(error);
      }
    };
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

  const bookmark = guarded((): void => {
    if (held === undefined) bookmarkNow(store.revision);
  });
  // While the current state is still going out, changes wait their turn.
  let held: (readonly StoreEvent[])[] | undefined = plan.initial ? [] : undefined;
  const snapshot = store.revision;
  const sendInitial = async (): Promise<void> => {
    await write.initial(current(call, plan.prefix, plan.selection), () => open);
    if (!open) return;
    if (plan.markEnd) bookmarkNow(snapshot, { [INITIAL_EVENTS_END]: 'true' });
    for (const events of held ?? []) write.events(events);
    held = undefined;
  };
  try {
    cancels.push(
      store.watch(
        plan.prefix,
        plan.initial ? snapshot : plan.after,
        guarded((events: readonly StoreEvent[]) => {
          if (!open) return;
          if (held === undefined) write.events(events);
          else held.push(events);
        }),
      ),
    );
    if (plan.initial) sendInitial().catch(fail);
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error;
    const { status } = expired(`too old resource version: ${error.requested} (${error.oldest})`);
    write.document('ERROR', status);
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

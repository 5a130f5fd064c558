import type { Clock } from '../../machinery/runtime/index.ts';
import { CompactedError, type StoreEvent } from '../../storage/index.ts';
import type { Call } from '../context/call.ts';
import type { ApiResponse, StreamSink } from '../exchange/exchange.ts';
import { apiVersion, collectionPrefix } from '../registry/resource.ts';
import { negotiate, type Transform } from '../request/negotiate.ts';
import { booleanOption, integerOption } from '../request/options.ts';
import { parseInitialEvents, parseRevision, waitForRevision } from './revision.ts';
import { parseSelectors, selectionOf } from './selection.ts';
import { withWarnings } from '../response/warnings.ts';
import { expired, internalError, notAcceptable } from '../exchange/status.ts';
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
  const { context, resource, info } = call;
  const { query } = call.options;
  const accepted = negotiate(call.request.headers['accept'], { allowed: WATCH_TRANSFORMS });
  // A stream of documents has no form in YAML.
  if (accepted.format === 'yaml') throw notAcceptable(['application/json;stream=watch']);
  const selectors = parseSelectors(query);
  const sendInitial = parseInitialEvents(query);
  const selection = selectionOf(selectors, { resource, objects: context.objects, pathName: info.name });
  const revision = parseRevision(query.get('resourceVersion'));
  const bookmarks = booleanOption(query, 'allowWatchBookmarks') ?? false;
  const initial = sendInitial ?? (revision === undefined || revision === 0);
  if (sendInitial === true && revision !== undefined) await waitForRevision(context, revision, call.request.signal);
  const asked = integerOption(query, 'timeoutSeconds') ?? 0;
  const plan: WatchPlan = {
    prefix: collectionPrefix(resource, info.namespace ?? (resource.namespaced ? selection.namespace : undefined)),
    selection,
    accepted,
    initial,
    markEnd: sendInitial === true && bookmarks,
    after: revision === undefined || revision === 0 ? context.store.revision : revision,
    bookmarks,
    timeoutMs: asked > 0 ? asked * 1000 : MIN_TIMEOUT_MS * (1 + context.random()),
  };
  return {
    status: 200,
    headers: withWarnings({ 'content-type': 'application/json' }, call.warnings),
    body: (sink) => startWatch(call, plan, sink),
  };
}

function startWatch(call: Call, plan: WatchPlan, sink: StreamSink): () => void {
  const { context } = call;
  const { store, clock } = context;
  const write = eventWriter(call, plan, { sink, fail: (error) => fail(error) });
  const bookmarkNow = (revision: number, annotations?: Record<string, string>): void =>
    write.document('BOOKMARK', bookmarkObject(call, plan, revision, annotations));
  const cancels: (() => void)[] = [];
  let open = true;
  const stop = (): void => {
    if (!open) return;
    open = false;
    for (const cancel of cancels) cancel();
    context.streams.delete(end);
  };
  const end = (): void => {
    stop();
    sink.end();
  };
  context.streams.add(end);
  // An event that cannot be sent must not be missed in silence: the client is told and lists again.
  const fail = (error: unknown): void => {
    const { method, url } = call.request;
    context.log.error({ err: error, method, path: url.split('?', 1)[0] }, 'a watch failed');
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
  cancels.push(endWithResource(call, end));

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
  if (plan.bookmarks) cancels.push(...repeatBookmarks(clock, plan, bookmark));
  cancels.push(clock.after(plan.timeoutMs, end));
  return stop;
}

/** A resource that is served no more takes its watches along; returns how to stop looking. */
function endWithResource({ context: { registry }, resource, version }: Call, end: () => void): () => void {
  return registry.onChange(() => {
    const served = registry.find(resource.group, version.name, resource.plural)?.resource;
    // With another definition the client must look again. One being deleted takes nothing new, but the deletion of its
    // objects is still to be seen.
    const isReplaced = resource.custom && served !== resource && served?.verbs.includes('create');
    if (served === undefined || isReplaced) end();
  });
}

/** One a minute and one before the end; returns how to stop them. */
function repeatBookmarks(clock: Clock, { timeoutMs }: WatchPlan, bookmark: () => void): (() => void)[] {
  let cancelNext = (): void => {};
  const again = (): void => {
    bookmark();
    cancelNext = clock.after(BOOKMARK_EVERY_MS, again);
  };
  cancelNext = clock.after(BOOKMARK_EVERY_MS, again);
  const cancels = [() => cancelNext()];
  if (timeoutMs > LAST_BOOKMARK_MS) cancels.push(clock.after(timeoutMs - LAST_BOOKMARK_MS, () => bookmark()));
  return cancels;
}

function bookmarkObject(
  { resource, version }: Call,
  { accepted }: WatchPlan,
  revision: number,
  annotations: Record<string, string> | undefined,
): object {
  const metadata = { resourceVersion: String(revision), ...(annotations && { annotations }) };
  if (accepted.transform === 'PartialObjectMetadata') {
    return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${accepted.transformVersion}`, metadata };
  }
  const object = { kind: resource.kind, apiVersion: apiVersion(resource.group, version.name), metadata };
  if (accepted.transform !== 'Table') return object;
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${accepted.transformVersion}`,
    metadata: { resourceVersion: metadata.resourceVersion },
    columnDefinitions: null,
    rows: [{ cells: [], object }],
  };
}

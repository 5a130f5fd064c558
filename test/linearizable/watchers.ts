/** Clients that watch, and note everything they hear. */
import { type Connection, watchLines } from './client.ts';
import type { Collection, Stream } from './history.ts';
import { collectionPath, itemOf, type Stage } from './stage.ts';
import { listOf } from './writers.ts';

interface Watcher {
  readonly name: string;
  readonly stage: Stage;
  readonly connection: Connection;
  readonly collection: Collection;
  /** Ends the watch under way. */
  readonly signal: AbortSignal;
  /** Called with every revision up to which everything is known. */
  readonly heard: (revision: number) => void;
}

/** Ends soon, after a bookmark: the next watch takes up from there. */
const SHORT = 'timeoutSeconds=3&allowWatchBookmarks=true';
const INITIAL = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

/**
 * Lists and watches from there, or lets the watch begin with the state; where that watch ends, another goes on from what
 * was heard last. Where history is gone it begins again. Until the history ends.
 */
export async function watchOn(watcher: Watcher): Promise<void> {
  const { dice, history, isEnding, whenUp } = watcher.stage;
  let from: number | undefined;
  while (!watcher.signal.aborted && (await whenUp())) {
    if (from === undefined && dice.chance(0.3)) {
      from = lastOf(await follow(watcher, { from: undefined }));
      continue;
    }
    from ??= await listOf(watcher, watcher.collection);
    if (from === undefined) continue;
    // Now and then from further back, as one does that was away for a while.
    const known = history.listings.filter(({ collection }) => collection === watcher.collection);
    if (known.length > 0 && dice.chance(0.2)) from = dice.pick(known).revision;
    const name =
      dice.chance(0.2) && !isEnding()
        ? dice.pick(
            known
              .flatMap(({ items }) => items)
              .map((item) => item.name)
              .concat('c0'),
          )
        : undefined;
    // What was listed is known as well.
    watcher.heard(from);
    const stream = await follow(watcher, { from, name });
    from = stream.isGone ? undefined : name === undefined ? lastOf(stream) : from;
  }
}

/** The revision from which the next watch goes on; undefined where the state had not been told whole. */
function lastOf({ from, heard }: Stream): number | undefined {
  const isWhole = from !== undefined || heard.some((one) => one.type === 'BOOKMARK' && one.endsInitial);
  return isWhole ? (heard.at(-1)?.revision ?? from) : undefined;
}

async function follow(
  watcher: Watcher,
  { from, name }: { from: number | undefined; name?: string | undefined },
): Promise<Stream> {
  const { collection, signal, stage } = watcher;
  const query = [
    'watch=true',
    from === undefined ? INITIAL : `resourceVersion=${from}`,
    // Of one object there may be nothing to hear any more.
    ...(name === undefined ? [] : [`fieldSelector=metadata.name%3D${name}&timeoutSeconds=1`]),
    ...(name === undefined && stage.dice.chance(0.5) ? [SHORT] : []),
  ].join('&');
  const called = stage.tick();
  const stream: Stream = { client: watcher.name, collection, name, from, called, isGone: false, heard: [] };
  stage.history.streams.push(stream);
  const line = (text: string): void => note(watcher, stream, text);
  const status = await watchLines(stage.access, {
    path: `${collectionPath(stage, collection)}?${query}`,
    signal,
    line,
  });
  if (status === 410) stream.isGone = true;
  else if (status !== 200 && status !== 0) stage.odd.push(`${watcher.name}: ?${query} was answered ${status}`);
  return stream;
}

interface Line {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Parameters<typeof itemOf>[1] & { readonly code?: number };
}

const INITIAL_END = 'k8s.io/initial-events-end';

function note({ collection, heard, name, stage }: Watcher, stream: Stream, text: string): void {
  const { object, type } = JSON.parse(text) as Line;
  if (type === 'ERROR') {
    if (object.code === 410) stream.isGone = true;
    else stage.odd.push(`${name} heard ${text}`);
    return;
  }
  const item = itemOf(collection, object);
  if (type === 'BOOKMARK') {
    const annotations = object.metadata?.['annotations'] as Record<string, string> | undefined;
    stream.heard.push({ type, revision: item.revision, endsInitial: annotations?.[INITIAL_END] === 'true' });
  } else stream.heard.push({ type, ...item, at: stage.tick() });
  heard(item.revision);
}

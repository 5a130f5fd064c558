/**
 * What watches promise: every change after the revision that was asked for, each once, in order; a bookmark comes after
 * everything up to it; a list and the watch from it join up; history is said to be gone only where it may be.
 *
 * What happened is known from the answers to writes and from all watches together: what one watch heard, every other
 * that reached beyond it must have heard.
 */
import type {
  Bookmark,
  Collection,
  Heard,
  History,
  Item,
  Listing,
  ObjectOperation,
  Stream,
  Violation,
} from './history.ts';

type Happened = Pick<Heard, 'name' | 'value' | 'revision'> & { readonly isGone: boolean; readonly uid?: string };

type Broken = (rule: string, text: string) => void;

const isBookmark = (one: Heard | Bookmark): one is Bookmark => one.type === 'BOOKMARK';

export function judgeWatches(history: History, collection: Collection): Violation[] {
  const violations: Violation[] = [];
  const broken: Broken = (rule, text) => void violations.push({ rule, text: `${collection}: ${text}` });
  const operations = history.operations.filter((one) => one.collection === collection);
  const streams = history.streams.filter((one) => one.collection === collection);
  const listings = history.listings.filter((one) => one.collection === collection);
  const happened = gather(operations, streams, broken);
  judgeAuthors(operations, streams, broken);
  for (const stream of streams) {
    judgeGone(history, stream, broken);
    judgeOrder(stream, broken);
    judgeComplete(stream, happened, broken);
    judgeStates(stream, listings, broken);
  }
  return violations;
}

/** Without the state that the stream began with. */
function afterInitial({ from, heard }: Stream): readonly (Heard | Bookmark)[] {
  if (from !== undefined) return heard;
  const end = heard.findIndex((one) => isBookmark(one) && one.endsInitial);
  return end < 0 ? [] : heard.slice(end + 1);
}

const changesOf = (stream: Stream): Heard[] => afterInitial(stream).filter((one): one is Heard => !isBookmark(one));

/** The revision after which the stream tells changes; undefined where it ended before that. */
function startOf({ from, heard }: Stream): number | undefined {
  return from ?? heard.find((one): one is Bookmark => isBookmark(one) && one.endsInitial)?.revision;
}

function gather(operations: readonly ObjectOperation[], streams: readonly Stream[], broken: Broken): Happened[] {
  const known = new Map<number, Happened>();
  const add = (one: Happened, source: string): void => {
    const before = known.get(one.revision);
    if (before === undefined) known.set(one.revision, one);
    else if (before.name !== one.name || before.value !== one.value || before.isGone !== one.isGone)
      broken('one revision, one change', `${source} has ${show(one)}, another ${show(before)}`);
  };
  for (const stream of streams)
    for (const one of changesOf(stream)) add({ ...one, isGone: one.type === 'DELETED' }, stream.client);
  for (const { answer, client, kind, name } of operations) {
    if (kind === 'get' || answer?.is !== 'done' || answer.revision === undefined) continue;
    add({ name, value: answer.value ?? '', revision: answer.revision, isGone: false }, client);
  }
  return [...known.values()].sort((a, b) => a.revision - b.revision);
}

/** Every event comes from one operation, and no operation makes two. */
function judgeAuthors(operations: readonly ObjectOperation[], streams: readonly Stream[], broken: Broken): void {
  const writes = new Map(operations.filter(({ value }) => value !== undefined).map((one) => [one.value, one]));
  const removals = new Map<string, ObjectOperation[]>();
  for (const one of operations)
    if (one.kind === 'delete' || one.kind === 'evict') removals.set(one.name, [...(removals.get(one.name) ?? []), one]);
  const made = new Map<string, number>();
  for (const stream of streams) {
    for (const one of changesOf(stream)) {
      const { at, name, revision, type, uid, value } = one;
      const isRemoval = type === 'DELETED';
      const mark = isRemoval ? `the removal of ${uid}` : `the write of ${lastOf(value)}`;
      const before = made.get(mark);
      if (before !== undefined && before !== revision)
        broken('no event twice', `${mark} of ${name} is at ${before} and at ${revision}`);
      made.set(mark, revision);
      const authors = isRemoval ? (removals.get(name) ?? []) : [writes.get(lastOf(value))];
      const may = authors.some((author) => author?.name === name && author.called < at && mayHaveDone(author));
      if (!may) broken('every event has an author', `${stream.client} heard ${show(one)}, which nobody did`);
    }
  }
}

const mayHaveDone = ({ answer }: ObjectOperation): boolean => answer === undefined || answer.is === 'done';
const lastOf = (value: string): string => value.split(',').at(-1) as string;

/** The history of a server's life is kept while it lives. */
function judgeGone({ lives }: History, { called, client, from, isGone }: Stream, broken: Broken): void {
  const life = lives.filter(({ since }) => since < called).at(-1);
  if (isGone && from !== undefined && life !== undefined && from >= life.revision)
    broken('410 where history is gone', `${client} was refused ${from}; the server has lived since ${life.revision}`);
}

function judgeOrder(stream: Stream, broken: Broken): void {
  let last = startOf(stream);
  if (last === undefined) return;
  for (const one of afterInitial(stream)) {
    if (isBookmark(one) && one.revision < last)
      broken('bookmarks', `${stream.client}: a bookmark at ${one.revision} came after ${last}`);
    if (!isBookmark(one) && one.revision <= last)
      broken('in order', `${stream.client} heard ${show(one)} after ${last}`);
    last = Math.max(last, one.revision);
  }
}

/** How far the stream has told everything. */
function reachOf(stream: Stream): number | undefined {
  const start = startOf(stream);
  return start && Math.max(start, ...afterInitial(stream).map(({ revision }) => revision));
}

function judgeComplete(stream: Stream, happened: readonly Happened[], broken: Broken): void {
  const [start, reached] = [startOf(stream), reachOf(stream)];
  if (start === undefined || reached === undefined) return;
  const heard = new Set(changesOf(stream).map(({ revision }) => revision));
  for (const one of happened) {
    if (one.revision <= start || one.revision > reached) continue;
    if (stream.name !== undefined && one.name !== stream.name) continue;
    if (!heard.has(one.revision))
      broken('complete', `${stream.client}, from ${start} to ${reached}, did not hear ${show(one)}`);
  }
}

/** The state that the stream tells, beside the lists that tell it, too. */
function judgeStates(stream: Stream, listings: readonly Listing[], broken: Broken): void {
  const start = startOf(stream);
  if (start === undefined) return;
  const base =
    stream.from === undefined ? initialOf(stream) : listings.find(({ revision }) => revision === start)?.items;
  const state = base && new Map(base.map((item) => [item.name, item]));
  const isWhole = state !== undefined && stream.name === undefined;
  const due = isWhole ? listings.filter(({ revision }) => revision >= start).sort(byRevision) : [];
  const compareBelow = (revision: number): void => {
    while (due[0] !== undefined && due[0].revision < revision) {
      const listing = due.shift() as Listing;
      const [told, listed] = [textOf([...(state ?? new Map<string, Item>()).values()]), textOf(listing.items)];
      if (told === listed) continue;
      const knows = `${stream.client}, watching from ${start}, knows ${told}`;
      broken('list and watch join up', `at ${listing.revision} ${listing.client} listed ${listed}; ${knows}`);
    }
  };
  const present = new Map<string, boolean>(base?.map(({ name }) => [name, true]));
  for (const one of changesOf(stream)) {
    compareBelow(one.revision);
    const was = present.get(one.name) ?? (isWhole ? false : undefined);
    if (was !== undefined && was === (one.type === 'ADDED'))
      broken('types', `${stream.client} heard ${show(one)}; the object was ${was ? 'there' : 'not there'}`);
    present.set(one.name, one.type !== 'DELETED');
    if (one.type === 'DELETED') state?.delete(one.name);
    else state?.set(one.name, one);
  }
  compareBelow((reachOf(stream) ?? start) + 1);
}

const byRevision = (one: Listing, other: Listing): number => one.revision - other.revision;

function initialOf({ heard }: Stream): Item[] {
  const end = heard.findIndex((one) => isBookmark(one) && one.endsInitial);
  return heard.slice(0, end).filter((one) => !isBookmark(one)) as Heard[];
}

const textOf = (items: readonly Item[]): string =>
  items
    .map(({ name, revision, value }) => `${name}=${value}@${revision}`)
    .sort()
    .join(' ');

const show = ({ name, revision, value, ...one }: Happened | Heard): string => {
  const what = 'type' in one ? one.type : one.isGone ? 'DELETED' : 'written';
  return `${what} ${name}=${value} at ${revision}`;
};

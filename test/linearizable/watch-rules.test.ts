import { expect, test } from 'vitest';
import { emptyHistory, type Heard, type History, type Listing, type ObjectOperation, type Stream } from './history.ts';
import { judge } from './judge.ts';

/** a is created at 11, changed at 12 and 14, deleted at 15; b is created at 13. */
const write = (kind: ObjectOperation['kind'], name: string, at: number, value?: string): ObjectOperation => ({
  kind,
  name,
  value,
  client: 'writer',
  collection: 'configmaps',
  called: at * 10,
  answered: at * 10 + 5,
  answer: value === undefined ? { is: 'done' } : { is: 'done', value, revision: at },
});
const operations = [
  write('create', 'a', 11, 'v1'),
  write('put', 'a', 12, 'v2'),
  write('create', 'b', 13, 'v3'),
  write('put', 'a', 14, 'v4'),
  write('delete', 'a', 15),
];
const event = (type: Heard['type'], name: string, revision: number, value: string): Heard => ({
  type,
  name,
  value,
  revision,
  uid: `uid-${name}`,
  at: revision * 10 + 3,
});
const events = [
  event('ADDED', 'a', 11, 'v1'),
  event('MODIFIED', 'a', 12, 'v2'),
  event('ADDED', 'b', 13, 'v3'),
  event('MODIFIED', 'a', 14, 'v4'),
  event('DELETED', 'a', 15, 'v4'),
] as const;
const bookmark = (revision: number, endsInitial = false) => ({ type: 'BOOKMARK', revision, endsInitial }) as const;
const stream = (heard: Stream['heard'], more: Partial<Stream> = {}): Stream => ({
  client: 'watcher',
  collection: 'configmaps',
  from: 10,
  called: 105,
  isGone: false,
  heard,
  ...more,
});
const listing = (revision: number, items: Listing['items'], more: Partial<Listing> = {}): Listing => ({
  client: 'lister',
  collection: 'configmaps',
  revision,
  items,
  isPast: false,
  called: revision * 10 + 6,
  answered: revision * 10 + 7,
  ...more,
});
const item = (name: string, value: string, revision: number) => ({ name, value, revision });
const empty = listing(10, []);

const rules = (streams: Stream[], listings: Listing[] = [empty], lives: History['lives'] = []): string[] => [
  ...new Set(judge({ ...emptyHistory(1), operations, streams, listings, lives }).map(({ rule }) => rule)),
];

test('a watch that hears everything keeps every rule, also from a list, beginning with the state, or of one object', () => {
  const listed = listing(13, [item('a', 'v2', 12), item('b', 'v3', 13)]);
  expect(rules([stream([...events, bookmark(15)])], [empty, listed])).toEqual([]);
  expect(rules([stream(events.slice(3), { from: 13 })], [listed])).toEqual([]);
  const initial = [event('ADDED', 'a', 12, 'v2'), event('ADDED', 'b', 13, 'v3'), bookmark(13, true)];
  expect(rules([stream([...initial, ...events.slice(3)], { from: undefined })], [listed])).toEqual([]);
  expect(rules([stream([events[2], bookmark(15)], { name: 'b' }), stream([...events])])).toEqual([]);
});

test('a watch that ends early owes nothing', () => {
  expect(rules([stream([...events]), stream(events.slice(0, 2))])).toEqual([]);
});

test('found: an event that is left out', () => {
  expect(rules([stream([events[0], ...events.slice(2)])])).toContain('complete');
  // Told by another watch, as nobody was told of this write.
  expect(
    rules([stream(events.slice(0, 4)), stream([...events.slice(0, 4), bookmark(15)]), stream([...events])]),
  ).toEqual(['complete']);
});

test('found: events in another order, or twice', () => {
  expect(rules([stream([events[0], events[2], events[1], ...events.slice(3)])])).toContain('in order');
  expect(rules([stream([events[0], ...events])])).toContain('in order');
  const again = { ...events[1], revision: 16 };
  expect(rules([stream([...events.slice(0, 4), again])])).toContain('no event twice');
});

test('found: an object that is added while it is there, or deleted while it is not', () => {
  const added = { ...events[1], type: 'ADDED' as const };
  expect(rules([stream([events[0], added, ...events.slice(2)])])).toContain('types');
});

test('found: what nobody did, or what was refused', () => {
  expect(rules([stream([...events, event('MODIFIED', 'b', 16, 'v9')])])).toContain('every event has an author');
  expect(rules([stream([...events, event('DELETED', 'b', 16, 'v3')])])).toContain('every event has an author');
});

test('found: a watch that does not join up with its list, or with a later one', () => {
  const listed = listing(12, [item('a', 'v1', 11)]);
  const later = listing(13, [item('a', 'v2', 12), item('b', 'v3', 13)]);
  expect(rules([stream(events.slice(2), { from: 12 })], [listed, later])).toContain('list and watch join up');
  expect(rules([stream([...events])], [empty, listed])).toContain('list and watch join up');
});

test('found: a bookmark before what it follows, and after what it did not', () => {
  expect(rules([stream([...events.slice(0, 3), bookmark(12), ...events.slice(3)])])).toContain('bookmarks');
  expect(rules([stream([...events.slice(0, 3), bookmark(14), ...events.slice(3)])])).toContain('in order');
});

test('found: history that is said to be gone while the server keeps it', () => {
  const gone = stream([], { isGone: true, called: 155, from: 12 });
  expect(rules([gone], [empty], [{ since: 101, revision: 10 }])).toEqual(['410 where history is gone']);
  const later = [
    { since: 101, revision: 10 },
    { since: 151, revision: 14 },
  ];
  expect(rules([gone], [empty], later)).toEqual([]);
});

test('found: one revision with two changes', () => {
  const other = stream([...events.slice(0, 2), { ...events[2], value: 'v5' }]);
  expect(rules([stream([...events]), other])).toContain('one revision, one change');
});

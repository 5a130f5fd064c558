import { expect, test } from 'vitest';
import { Cluster } from '../decisions/gang/index.ts';
import { ManualClock } from '../machinery/runtime/index.ts';
import { pod } from '../testkit/index.ts';
import { Permit } from './permit.ts';
import { type KnownPod, PodBook } from './pod-book.ts';

function gang(size: number, needed: number) {
  const clock = new ManualClock();
  const book = new PodBook(new Cluster());
  const bound: string[] = [];
  const expired: string[] = [];
  const permit = new Permit({
    clock,
    book,
    neededBy: () => needed,
    bind: ({ facts }) => bound.push(facts.name),
    expire: (known) => {
      book.release(known);
      expired.push(known.facts.name);
    },
  });
  const members = Array.from({ length: size }, (_, index) => {
    const object = pod({ name: `p${index}`, spec: { schedulingGroup: { podGroupName: 'g' } } });
    object.metadata.uid = `u${index}`;
    return book.observe(object, clock.now()).known as KnownPod;
  });
  return { clock, book, permit, members, bound, expired };
}

test('Permit binds at once when the whole gang has its place', () => {
  const { book, bound, members, permit } = gang(3, 3);
  for (const member of members) book.assume(member, 'n');
  for (const member of members) permit.pass(member);
  expect(bound).toEqual(['p0', 'p1', 'p2']);
});

test('G-12 a member deleted while the gang waits gives its place back, and no sibling is bound below the minimum', () => {
  const { book, bound, members, permit } = gang(3, 3);
  const [first, second, third] = members as [KnownPod, KnownPod, KnownPod];
  book.assume(first, 'n');
  book.assume(second, 'n');
  permit.pass(first);
  permit.pass(second);
  permit.drop(first);
  book.forget(first.facts.uid);
  expect(book.members('default/g').filter(({ standing }) => standing === 'assumed')).toHaveLength(1);
  book.assume(third, 'n');
  permit.pass(third);
  permit.review('default/g');
  expect(bound).toEqual([]);
});

test('G-13 siblings of a lost member wait five minutes, then give their places back', async () => {
  const { book, bound, clock, expired, members, permit } = gang(3, 3);
  for (const member of members.slice(0, 2)) {
    book.assume(member, 'n');
    permit.pass(member);
  }
  await clock.advance(5 * 60_000 - 1);
  expect(expired).toEqual([]);
  await clock.advance(1);
  expect([bound, expired]).toEqual([[], ['p0', 'p1']]);
  expect(members.map(({ standing }) => standing)).toEqual(['pending', 'pending', 'pending']);
});

test('a late member frees those that wait', () => {
  const { book, bound, members, permit } = gang(3, 3);
  for (const member of members) {
    book.assume(member, 'n');
    permit.pass(member);
  }
  permit.review('default/g');
  expect(bound.sort()).toEqual(['p0', 'p1', 'p2']);
});

/** Composites whose groups keep to one topology domain. */
import { expect, test } from 'vitest';
import { seededRandom } from '../../../machinery/values/index.ts';
import { type LeafQuestion, placeGroup } from '../../gang/index.ts';
import type { Cluster } from '../cluster/cluster.ts';
import { cluster, facts, node, pod } from '../fixtures.ts';
import { fitsGroup } from './fits.ts';
import type { GroupAsk } from './model.ts';

const byKey = (key: string) => [{ key, mode: 'Required' as const }];
const ours = { searches: () => true };
const zoned = (a: number, b: number) =>
  cluster([node('a', { cpu: a, labels: { zone: 'a' } }), node('b', { cpu: b, labels: { zone: 'b' } })]);
const part = (made: Cluster, name: string, count: number, more: Partial<GroupAsk> = {}): GroupAsk => ({
  unit: name,
  pods: Array.from({ length: count }, (_, at) => facts(made, pod(`${name}${at}`, { cpu: 1 }), name)),
  need: 'all',
  ...more,
});
const pairIn = (made: Cluster, counts: readonly number[], more: Partial<GroupAsk> = {}): GroupAsk => ({
  unit: 'pair',
  pods: [],
  need: counts.length,
  children: counts.map((count, at) => part(made, `g${at}`, count)),
  topology: byKey('zone'),
  ...ours,
  ...more,
});

test('the groups of a composite with a topology fit where one domain takes all of them', () => {
  const made = zoned(3, 4);
  const answer = fitsGroup(pairIn(made, [2, 2]), made);
  expect(answer).toMatchObject({ fits: 'Yes', domain: { labels: { zone: 'b' } } });
  expect(answer.fits === 'Yes' && answer.where.map((one) => one.node)).toEqual(['b', 'b', 'b', 'b']);
  const small = zoned(3, 3);
  expect(fitsGroup(pairIn(small, [2, 2]), small)).toMatchObject({
    fits: 'No',
    binding: { constraint: { filter: 'Topology', key: 'zone', cause: 'DomainTooSmall' } },
  });
  expect(fitsGroup(pairIn(small, [2, 2], { topology: [] }), small).fits).toBe('Yes');
  expect(small.node('a')?.pods.size).toBe(0);
});

test('a member of any group of a composite decides the domain for all of it', () => {
  const made = zoned(8, 2);
  const ask = (count: number, staying: readonly string[]) =>
    fitsGroup(
      pairIn(made, [], { need: 2, children: [part(made, 'placed', 0, { staying }), part(made, 'late', count)] }),
      made,
    );
  expect(ask(2, ['b'])).toMatchObject({ fits: 'Yes', domain: { labels: { zone: 'b' } } });
  expect(ask(3, ['b']).fits).toBe('No');
  expect(ask(1, ['a', 'b'])).toMatchObject({ fits: 'No', binding: { constraint: { cause: 'DomainSplit' } } });
  // The same asked of one group alone, with the nodes of those beside it.
  const alone = (count: number) =>
    fitsGroup(part(made, 'late', count, { topology: [{ ...byKey('zone')[0]!, among: 'x/c', pins: ['b'] }] }), made);
  expect(alone(2)).toMatchObject({ fits: 'Yes', domain: { labels: { zone: 'b' } } });
  expect(alone(3).fits).toBe('No');
});

test('of drawn composites with topologies the scheduler places exactly those that are said to fit', () => {
  for (let seed = 1; seed <= 200; seed += 1) {
    const random = seededRandom(seed);
    const whole = (from: number, to: number) => from + Math.floor(random() * (to - from + 1));
    const made = cluster(
      Array.from({ length: whole(2, 6) }, (_, at) =>
        node(`n${at}`, { cpu: whole(1, 3), labels: { zone: 'ab'[whole(0, 1)]!, rack: `r${whole(0, 2)}` } }),
      ),
    );
    const racked = random() < 0.5;
    const counts = Array.from({ length: whole(1, 3) }, () => whole(1, 3));
    const children = counts.map((count, at) => part(made, `g${at}`, count, racked ? { topology: byKey('rack') } : {}));
    const answer = fitsGroup(pairIn(made, counts, { children }), made);
    const leaves = children.map(({ pods, unit }): LeafQuestion => {
      const topologyKey = racked ? 'rack' : undefined;
      return { kind: 'leaf', name: unit, needed: pods.length, scheduled: 0, pods, topologyKey };
    });
    const question = {
      kind: 'composite',
      name: 'c',
      needed: counts.length,
      topologyKey: 'zone',
      children: leaves,
    } as const;
    expect(answer.fits, `seed ${seed}`).toBe(placeGroup(question, made).reason === 'Scheduled' ? 'Yes' : 'No');
  }
});

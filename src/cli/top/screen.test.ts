import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/resource.ts';
import { NOW, stagedFleet, stagedNode } from '../../fleet/stage.fixture.ts';
import { changes, facts, topRows } from './rows.ts';
import type { Paint } from '../shared/terminal.ts';
import { drawScreen, shareOut } from './screen.ts';

const screen = { server: 'https://127.0.0.1:6443', time: '12:00:00', columns: 80 };

test('22.2: top shows budgets, groups and drains within 80 columns, what holds things up first', () => {
  const fleet = stagedFleet();
  fleet.set('Node', { ...stagedNode('a'), spec: { unschedulable: true } } as KubeObject);
  fleet.delete('Pod', 'ml', 'gang-1-1');
  fleet.settle(NOW);
  const lines = drawScreen(fleet, topRows(fleet, { now: NOW }), screen);
  expect(lines.every((line) => line.length <= 80)).toBe(true);
  expect(lines).toMatchInlineSnapshot(`
    [
      "quorate top  https://127.0.0.1:6443  12:00:00",
      "6 nodes, 1 cordoned   5 pods   3 groups, 1 broken",
      "",
      "BUDGET        COUNTS  HEALTHY  NEEDED  ALLOWED  GRANTED",
      "ml/pdb/train  groups  2/3      2       1        0",
      "",
      "GROUP               HEALTHY  NEEDED  NODES  STATE",
      "ml/PodGroup/gang-1  1        2       1      broken",
      "ml/PodGroup/gang-0  2        2       2      whole",
      "ml/PodGroup/gang-2  2        2       2      whole",
      "",
      "DRAIN  LEFT  GOING  STATE",
      "a      1     0      waits for budget train",
    ]
  `);
});

test('22.2: a long name loses its middle, and no line is wider than the terminal', () => {
  const fleet = stagedFleet();
  const name = 'recommendation-model-training-with-a-very-long-name';
  const node = { metadata: { name }, spec: { unschedulable: true } };
  fleet.set('Node', node as never);
  const budget = fleet.objects.get('PodDisruptionBudget')?.get('ml/train');
  fleet.set('PodDisruptionBudget', { ...budget, metadata: { ...budget?.metadata, name } } as never);
  fleet.settle(NOW);
  const bold: Paint = (_, text) => `\u001b[1m${text}\u001b[22m`;
  const lines = drawScreen(fleet, topRows(fleet, { now: NOW }), { ...screen, columns: 60, paint: bold });
  const shown = lines.map((line) => line.replaceAll(/\u001b\[\d+m/g, ''));
  expect(shown.filter((line) => line.length > 60)).toEqual([]);
  expect(shown.join('\n')).toMatch(/^ml\/pdb\/\S*…\S*-name {2}groups /m);
});

test('22.2: top gives every section its share of a small screen and says what it leaves out', () => {
  const fleet = stagedFleet();
  const lines = drawScreen(fleet, topRows(fleet, { now: NOW }), { ...screen, lines: 12 });
  expect(lines.length).toBeLessThanOrEqual(12);
  expect(lines.join('\n')).toContain('and 2 more');
});

test.each([
  { wanted: [1, 1, 1], room: 9, shares: [1, 1, 1] },
  { wanted: [9, 1, 1], room: 8, shares: [6, 1, 1] },
  { wanted: [9, 9, 1], room: 8, shares: [3, 4, 1] },
  { wanted: [9, 9, 9], room: 0, shares: [0, 0, 0] },
  { wanted: [9, 2, 5], room: Number.POSITIVE_INFINITY, shares: [9, 2, 5] },
])('22.2: shareOut() of $room among $wanted', ({ room, shares, wanted }) => {
  expect(shareOut(wanted, room)).toEqual(shares);
});

test('22.2: piped, top tells what is new, different and gone', () => {
  const fleet = stagedFleet();
  const before = facts(topRows(fleet, { now: NOW }));
  expect(changes(new Map(), before)).toContain('group ml/PodGroup/gang-0: whole, 2 healthy, 2 needed');
  expect(changes(before, before)).toEqual([]);
  for (const pod of ['gang-0-0', 'gang-0-1', 'gang-1-1']) fleet.delete('Pod', 'ml', pod);
  fleet.settle(NOW);
  expect(changes(before, facts(topRows(fleet, { now: NOW })))).toEqual([
    'budget ml/pdb/train: 1 of 2 healthy, 1 needed, 1 may go',
    'group ml/PodGroup/gang-1: broken, 1 healthy, 2 needed',
    'group ml/PodGroup/gang-0: gone',
  ]);
  expect(facts(topRows(fleet, { namespace: 'other', now: NOW })).size).toBe(0);
});

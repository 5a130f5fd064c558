import { expect, test } from 'vitest';
import { stagedFleet } from '../../fleet/stage.fixture.ts';
import { layOut } from './layout.ts';

test('layOut() puts the nodes of a group beside each other', () => {
  const made = stagedFleet();
  const { columns, rows } = layOut(made.shownNodes(), [...made.groups.all().values()]);
  expect(rows.map((row) => row.node)).toEqual(['a', 'c', 'b', 'd', 'e', 'f']);
  expect(columns.map(({ name }) => name)).toEqual(['PodGroup/gang-0', 'PodGroup/gang-2', 'PodGroup/gang-1']);
});

/**
 * Hours of drawn evictions, deletes, taints, failures, drains, Maintenances, upgrades, scale-downs and rollouts under drawn
 * budgets and policies: the record accounts for every pod that went, and no limit was passed, by a watch alone.
 * `npm run test:record` plays days on many nodes.
 */
import { expect, test } from 'vitest';
import { play } from '../../record/play.ts';

const HOURS = 2;
const NODES = 10;
const SEED = process.env['QUORATE_SEED'] === 'random' ? Math.floor(Math.random() * 2 ** 31) : 4;

test(`RC-07: ${HOURS} hours on ${NODES} nodes: every pod that went is in the record once, and no limit was passed (seed ${SEED})`, async () => {
  const { done, problems, taken, voluntary } = await play({ hours: HOURS, nodes: NODES, seed: SEED });
  expect(problems).toEqual([]);
  expect(taken).toBeGreaterThan(10);
  expect(voluntary).toBeGreaterThan(0);
  if (SEED === 4) expect([...done.keys()]).toEqual(expect.arrayContaining(['drain', 'failure', 'upgrade', 'policy']));
}, 300_000);

/** Drains by the real kubectl of a node under a gang whose members may only be disrupted together. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { drainOne, NODES_PER_GANG } from '../as-one/drain-one.ts';
import { type DrainHost, startEmbeddedDrains } from '../as-one/host.ts';

/** Without a budget, with one that lets one group go, and with another member evicted meanwhile. */
const SEEDS = [1, 2, 6];

let host: DrainHost;
beforeAll(async () => {
  host = await startEmbeddedDrains(SEEDS.length * NODES_PER_GANG);
});
afterAll(() => host?.stop());

test('DM-01: an unmodified kubectl drain ends, the group goes once, and never in part', async () => {
  const nodesOf = (lane: number): string[] =>
    Array.from({ length: NODES_PER_GANG }, (_, at) => `node-${lane * NODES_PER_GANG + at}`);
  const problems = await Promise.all(SEEDS.map((seed, lane) => drainOne(host, seed, nodesOf(lane))));
  expect(problems).toEqual(SEEDS.map(() => undefined));
});

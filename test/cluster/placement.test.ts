/** What `npm run test:placement` asks about a thousand clusters, about a few. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chosenMinor } from '../kubernetes/binaries.ts';
import { compare } from '../placement/compare.ts';
import { type RealScheduler, startRealScheduler } from '../placement/real.ts';
import { complaints } from '../placement/verdict.ts';

const FIRST_SEED = 101;
const CLUSTERS = 25;

let scheduler: RealScheduler;
beforeAll(async () => {
  scheduler = await startRealScheduler(chosenMinor());
});
afterAll(() => scheduler?.stop());

test(`20.1: placement and the real kube-scheduler agree about ${CLUSTERS} drawn clusters`, async () => {
  const seeds = Array.from({ length: CLUSTERS }, (_, at) => FIRST_SEED + at);
  const results = await Promise.all(seeds.map((seed) => compare(seed, scheduler, chosenMinor())));
  expect(complaints(results)).toEqual([]);
});

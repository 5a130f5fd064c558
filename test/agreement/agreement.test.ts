import { expect, it } from 'vitest';
import { startEmbeddedAgreement } from './embedded.ts';

/** `npm run test:agreement` asks about thousands; here a few, so that a door which forgets something is seen at once. */
const STATES = 15;
/** States that a door once saw differently. */
const FOUND = [301_042, 400_063, 401_573];

it(`18.10: eviction API, why, plan, drain, preemption and simulate agree about ${STATES} drawn states`, async () => {
  const agreement = await startEmbeddedAgreement();
  try {
    const problems: string[] = [];
    const seeds = [...FOUND, ...Array.from({ length: STATES }, (_, at) => at + 1)];
    for (const seed of seeds) problems.push(...(await agreement.ask(seed)));
    expect(problems).toEqual([]);
  } finally {
    await agreement.stop();
  }
}, 120_000);

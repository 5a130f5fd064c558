/** What `npm run test:agreement -- --host cluster` asks about hundreds of states, about a few. */
import { afterEach, expect, test } from 'vitest';
import { startClusterAgreement } from '../agreement/cluster.ts';
import type { Agreement } from '../agreement/host.ts';

const STATES = 6;

let agreement: Agreement | undefined;
afterEach(() => agreement?.stop());

test.each(['adopt', 'alongside', 'replace'] as const)(
  `18.10: in mode %s the webhook, evictions, why, plan, drain, preemption and simulate agree about ${STATES} drawn states`,
  async (mode) => {
    agreement = await startClusterAgreement(mode);
    const problems: string[] = [];
    for (let seed = 1; seed <= STATES; seed += 1) problems.push(...(await agreement.ask(seed)));
    expect(problems).toEqual([]);
  },
);

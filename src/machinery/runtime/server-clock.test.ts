import { expect, test } from 'vitest';
import { ManualClock } from './clock.ts';
import { silentLogger } from './log.ts';
import { createServerClock } from './server-clock.ts';

function setUp(skewMs: number) {
  const clock = new ManualClock();
  const warnings: string[] = [];
  const log = { ...silentLogger, warn: (_: object, message: string) => warnings.push(message) };
  let takesMs = 0;
  const server = createServerClock(
    async () => {
      const date = new Date(clock.now() - skewMs).toUTCString();
      if (takesMs > 0) await clock.advance(takesMs);
      return { status: 200, headers: { date }, body: new Uint8Array() };
    },
    { clock, log },
  );
  const ask = (slowMs = 0) => {
    takesMs = slowMs;
    return server.transport({ method: 'GET', path: '/version' });
  };
  return { clock, server, warnings, ask };
}

test.each([300_000, -300_000])(
  'createServerClock() goes by the server where this machine is %d ms ahead',
  async (skew) => {
    const { ask, clock, server, warnings } = setUp(skew);
    await ask();
    await ask();
    expect(Math.abs(server.clock.now() - (clock.now() - skew))).toBeLessThanOrEqual(1000);
    expect(warnings).toHaveLength(1);
  },
);

test('createServerClock() leaves a right clock alone, and learns nothing from slow answers', async () => {
  const right = setUp(800);
  await right.ask();
  expect(right.server.skewMs()).toBe(0);
  const slow = setUp(0);
  await slow.ask(60_000);
  expect(slow.server.skewMs()).toBe(0);
});

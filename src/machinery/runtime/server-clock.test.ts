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

test.each([3_600_000, -3_600_000])(
  'createServerClock() goes on as before when the clock of this machine is set by %d ms',
  async (byMs) => {
    const { ask, clock, server } = setUp(0);
    await ask();
    const before = server.clock.now();
    clock.set(clock.now() + byMs);
    await clock.advance(1000);
    expect(server.clock.now() - before).toBe(1000);
  },
);

test('createServerClock() catches up with the server after a sleep', async () => {
  const machine = new ManualClock();
  let serverMs = machine.now();
  const { clock, transport } = createServerClock(
    () => Promise.resolve({ status: 200, headers: { date: new Date(serverMs).toUTCString() }, body: new Uint8Array() }),
    { clock: machine, log: silentLogger },
  );
  serverMs += 90_000;
  machine.set(serverMs);
  await transport({ method: 'GET', path: '/version' });
  expect(Math.abs(clock.now() - serverMs)).toBeLessThanOrEqual(1000);
});

test('createServerClock() leaves a right clock alone, and learns nothing from slow answers', async () => {
  const right = setUp(800);
  await right.ask();
  expect(right.server.skewMs()).toBe(0);
  const slow = setUp(0);
  await slow.ask(60_000);
  expect(slow.server.skewMs()).toBe(0);
});

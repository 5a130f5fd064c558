import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';
import { type RealControlPlane, startRealControlPlane } from '../../kubernetes/control-plane.ts';
import { CASES, DEFINITION, WIDGETS_PATH } from './cases.ts';
import { type Answer, comparable, type Send, sendToOurs, sendToReal } from './exchange.ts';

let real: RealControlPlane;
let ours: ControlPlane<typeof systemClock>;
let send: { real: Send; ours: Send };

beforeAll(async () => {
  real = await startRealControlPlane({ components: [] });
  ours = await startControlPlane({ clock: systemClock });
  send = { real: sendToReal(real), ours: sendToOurs(ours as never) };
  await send.real(DEFINITION);
  await send.ours(DEFINITION);
  // The real server serves a new kind some moments after it accepted the definition.
  await vi.waitFor(async () => expect((await send.real({ method: 'GET', path: WIDGETS_PATH })).status).toBe(200), {
    timeout: 30_000,
    interval: 200,
  });
}, 120_000);

afterAll(async () => {
  await ours?.stop();
  await real?.stop();
});

const outcome = ({ status, body }: Answer): unknown => [status, (body as { reason?: string }).reason];

for (const [name, ...steps] of CASES) {
  test(`both servers answer alike: ${name}`, async () => {
    for (const step of steps) {
      const [expected, actual] = [await send.real(step), await send.ours(step)];
      const view = step.ownWords ? outcome : comparable;
      expect(view(actual), JSON.stringify(step)).toEqual(view(expected));
    }
  });
}

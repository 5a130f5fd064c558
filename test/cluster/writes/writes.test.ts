import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/machinery/runtime/index.ts';
import { seededRandom } from '../../../src/machinery/values/index.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';
import { type RealControlPlane, startRealControlPlane } from '../../kubernetes/control-plane.ts';
import { CASES, DEFINITION, WIDGETS_PATH } from './cases.ts';
import { DEPLOYMENT, RandomWrites, WIDGET } from './random.ts';
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
    timeout: 120_000,
    interval: 200,
  });
}, 120_000);

afterAll(async () => {
  await ours?.stop();
  await real?.stop();
});

const outcome = ({ status, body }: Answer): unknown => [status, (body as { reason?: string }).reason];

/** The same writes in every run, so that a failure is about the change at hand; `QUORATE_SEED` tries others. */
const SEED = Number(process.env['QUORATE_SEED'] ?? 74_093);
const WRITES = 200;

/**
 * When apply removes the last item of a list or map, the real server leaves null behind and then refuses it for kinds
 * whose schema wants a list or map there. We leave it empty.
 */
const leavesNullBehind = ({ body }: Answer): boolean =>
  /in body must be of type (array|object): /.test(JSON.stringify(body));

/** Warnings about what a pod template means are not about writes. */
const withoutWarnings = (answer: Answer): unknown => comparable({ ...answer, warnings: [] });

for (const kind of [DEPLOYMENT, WIDGET]) {
  test(`both servers answer ${WRITES} random writes of ${kind.type.kind} alike (seed ${SEED})`, async () => {
    const writes = new RandomWrites(seededRandom(SEED));
    let names = 0;
    let step = writes.create(kind, `r${names}`);
    for (let i = 0; i < WRITES; i++) {
      const [expected, actual] = [await send.real(step), await send.ours(step)];
      const refused = expected.status >= 400;
      const known = refused && actual.status < 400 && leavesNullBehind(expected);
      if (!known) {
        const view = refused && expected.status !== 409 ? outcome : withoutWarnings;
        expect(view(actual), `write ${i}: ${JSON.stringify(step)}`).toEqual(view(expected));
      }
      const fresh = known || writes.chance(0.08);
      if (fresh) names++;
      step = fresh ? writes.create(kind, `r${names}`) : writes.write(kind, `r${names}`);
    }
  }, 120_000);
}

for (const [name, ...steps] of CASES) {
  test(`both servers answer alike: ${name}`, async () => {
    for (const step of steps) {
      const [expected, actual] = [await send.real(step), await send.ours(step)];
      const view = step.ownWords ? outcome : comparable;
      expect(view(actual), JSON.stringify(step)).toEqual(view(expected));
    }
  });
}

import { expect, it } from 'vitest';
import { ApiError } from './api-error.ts';
import { ManualClock } from './clock.ts';
import { type ControllerContext, defineController, onDefect, settle, settled } from './index.ts';

/** Runs a controller whose first tries fail; answers what was said. */
async function failing(error: unknown, tries: number): Promise<string[]> {
  const said: string[] = [];
  const note = (level: string) => (fields: object, message: string) =>
    void said.push(`${level}: ${message}${'stack' in fields ? ' with stack' : ''}`);
  const log = { debug: () => {}, info: note('info'), warn: note('warn'), error: note('error') };
  const clock = new ManualClock();
  const abort = new AbortController();
  let count = 0;
  const context = { clock, log, signal: abort.signal } as unknown as ControllerContext;
  const failingController = defineController({
    name: 'c',
    workers: 1,
    deps: () => undefined,
    reconcile: () => {
      if (count === tries) return Promise.resolve(settled);
      count += 1;
      return Promise.reject(error as Error);
    },
  });
  const [queue] = failingController.start(context).queues;
  queue?.add('a/b');
  while (count < tries) {
    await settle();
    await clock.advance(60 * 60_000);
  }
  await settle();
  abort.abort(new Error('done'));
  return said;
}

const answer = (code: number, reason: string) => new ApiError(code, { message: 'no', reason } as never);

it('18.14: conflicts and the like are never told of', async () => {
  expect(await failing(answer(409, 'Conflict'), 40)).toEqual([]);
  expect(await failing(answer(429, 'TooManyRequests'), 40)).toEqual([]);
});

it('18.14: a refusal is told of when it lasts, then ever more rarely, without a stack', async () => {
  expect(await failing(answer(403, 'Forbidden'), 7)).toEqual([]);
  const said = await failing(answer(403, 'Forbidden'), 40);
  expect(said).toEqual(Array.from({ length: 3 }, () => 'warn: reconcile keeps failing; retrying'));
});

it('18.14: a defect is told of at once, with its place', async () => {
  const defects: Error[] = [];
  onDefect((error) => defects.push(error));
  expect((await failing(new TypeError('x is not a function'), 1))[0]).toBe(
    'error: reconcile failed with an unexpected error; retrying with stack',
  );
  expect(defects.map(String)).toEqual(['TypeError: x is not a function']);
});

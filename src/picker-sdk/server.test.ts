import { afterEach, expect, test } from 'vitest';
import { createPodPicker, leastFirst, type ListeningPicker, type Pick, type PodPickerOptions } from './index.ts';

const open: ListeningPicker[] = [];
afterEach(async () => {
  for (const picker of open.splice(0)) await picker.close();
});

async function serve(pick: Pick, options: PodPickerOptions = {}) {
  const picker = await createPodPicker(pick, options).listen({ port: 0, host: '127.0.0.1' });
  open.push(picker);
  return (body: string, init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${picker.port}/pick`, { method: 'POST', body, ...init });
}

const question = JSON.stringify({ number_of_pods_requested: 1, candidate_pods: ['a', 'b'] });

test('createPodPicker() turns a function into the documented protocol', async () => {
  const ask = await serve(({ candidates, count, url }) => ({ chosen: candidates.slice(0, count), tied: [url] }));
  const response = await ask(question);
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ chosen_pods: ['a'], tied_pods: ['/pick'] });
});

test.each(['', 'x', '[]', '{}', '{"candidate_pods":["a"]}', '{"candidate_pods":[1],"number_of_pods_requested":1}'])(
  'createPodPicker() refuses %j',
  async (body) => {
    const ask = await serve(() => ({}));
    expect((await ask(body)).status).toBe(400);
  },
);

test('createPodPicker() asks callers for their secret', async () => {
  let secret = 'first';
  const ask = await serve(() => ({}), { auth: { header: 'X-Token', value: () => secret } });
  const status = async (token?: string) =>
    (await ask(question, token === undefined ? {} : { headers: { 'x-token': token } })).status;
  expect([await status(), await status('wrong'), await status('first')]).toEqual([401, 401, 200]);
  secret = 'second';
  expect([await status('first'), await status('second')]).toEqual([401, 200]);
});

test('createPodPicker() says nothing about a failure but that there was one', async () => {
  const errors: unknown[] = [];
  const pick = () => Promise.reject(new Error('database password is hunter2'));
  const ask = await serve(pick, { onError: (error) => errors.push(error) });
  const response = await ask(question);
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('hunter2');
  expect(errors).toHaveLength(1);
});

test('createPodPicker() limits what it reads and answers only POST', async () => {
  const ask = await serve(() => ({}), { maxRequestBytes: 10 });
  expect((await ask(question)).status).toBe(413);
  const get = await serve(() => ({}));
  expect((await get(question, { method: 'PUT' })).status).toBe(405);
});

test.each([
  ['distinct weights', { a: 3, b: 1, c: 2 }, 2, { chosen: ['b', 'c'] }],
  ['a tie at the border', { a: 1, b: 2, c: 2, d: 2 }, 2, { chosen: ['a'], tied: ['b', 'c', 'd'] }],
  ['a tie that fits', { a: 1, b: 1, c: 5 }, 2, { chosen: ['a', 'b'] }],
  ['pods that nobody reported', { a: 4, b: undefined }, 1, { chosen: ['b'] }],
])('leastFirst() with %s', (_name, weights: Record<string, number | undefined>, count, want) => {
  expect(leastFirst(Object.keys(weights), count, (pod) => weights[pod])).toEqual(want);
});

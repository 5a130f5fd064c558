import { expect, test } from 'vitest';
import { LIMITS } from '../../limits.ts';
import { readYamlApart } from './apart.ts';
import { parseYaml } from './parse.ts';

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('');
const outcome = async (run: () => unknown): Promise<unknown> => {
  try {
    return await run();
  } catch (error) {
    return { name: (error as Error).name, message: (error as Error).message };
  }
};

test.each([
  ['a large map', lines(5000, (at) => `key-${at}: "${at}"\n`)],
  ['a text in flow style that is no JSON', `{a: [${'x,'.repeat(5000)}x]}`],
  ['a text with repeated keys', lines(300, () => 'a: 1\n')],
  ['a malformed text', `${lines(3000, (at) => `key-${at}: 1\n`)}a: b: c`],
  ['JSON', JSON.stringify({ a: Array.from({ length: 5000 }, (_, at) => at) })],
  ['an alias bomb', lines(30, (at) => (at === 0 ? 'k0: &a0 [x,x]\n' : `k${at}: &a${at} [*a${at - 1},*a${at - 1}]\n`))],
])('17.11: readYamlApart() reads %s as parseYaml() does', async (_, text) => {
  expect(await outcome(async () => (await readYamlApart(text))())).toEqual(await outcome(() => parseYaml(text)));
});

test('17.11: readYamlApart() refuses more values than a body may have', async () => {
  const read = await readYamlApart(`a: [${'x,'.repeat(LIMITS.bodyValues)}x]`);
  expect(read).toThrow(/^Request entity too large: limit is 100000 values/);
});

test('17.11: readYamlApart() lets so many texts wait and no more', async () => {
  const text = lines(200, (at) => `key-${at}: 1\n`);
  const answers = await Promise.allSettled(Array.from({ length: LIMITS.yamlWaiting + 5 }, () => readYamlApart(text)));
  const refused = answers.filter(({ status }) => status === 'rejected');
  // One is being read while the others wait.
  expect(refused).toHaveLength(4);
  expect(refused[0]).toMatchObject({ reason: { code: 429 } });
});

import { expect, test } from 'vitest';
import { LIMITS } from '../../exchange/limits.ts';
import { readYamlApart, YamlReader } from './apart.ts';
import { parseYaml } from './parse.ts';

/** However slow the machine is: what is read here is small. */
const patient = new YamlReader(600_000);

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
  expect(await outcome(async () => (await readYamlApart(text, 'a', patient))())).toEqual(
    await outcome(() => parseYaml(text)),
  );
});

test('17.11: readYamlApart() lets so many texts wait, of all and of one user', async () => {
  const text = lines(200, (at) => `key-${at}: 1\n`);
  const read = (user: string): Promise<unknown> => readYamlApart(text, user, patient);
  const isRefused = ({ status }: PromiseSettledResult<unknown>): boolean => status === 'rejected';
  // One is being read while the others wait.
  const ofOne = Array.from({ length: LIMITS.yamlWaitingOfUser + 3 }, () => read('one'));
  const ofOthers = Array.from({ length: LIMITS.yamlWaiting }, (_, at) => read(`other-${at}`));
  const [one, others] = await Promise.all([Promise.allSettled(ofOne), Promise.allSettled(ofOthers)]);
  expect(one.filter(isRefused)).toHaveLength(2);
  expect(others.filter(isRefused)).toHaveLength(LIMITS.yamlWaitingOfUser);
  expect(others.find(isRefused)).toMatchObject({ reason: { code: 429 } });
});

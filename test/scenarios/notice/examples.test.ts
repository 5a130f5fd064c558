/** The examples as their README starts them: they save a checkpoint, and acknowledge when it is there. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { Example } from './example.ts';

let example: Example | undefined;
afterEach(async () => {
  await example?.stop();
  example = undefined;
});

test.each(['checkpoint.ts', 'checkpoint.py'])('%s saves a checkpoint and acknowledges', async (file) => {
  if (file.endsWith('.py') && spawnSync('python3', ['--version']).error !== undefined) {
    console.warn('python3 is not installed: the example in Python was not run');
    return;
  }
  const path = join(mkdtempSync(join(tmpdir(), 'quorate-notice-')), 'checkpoint.json');
  example = await Example.start(file, { CHECKPOINT: path, NOTICE_TOKEN: 'secret' });
  expect((await example.call('Notify', 'wrong')).status).toBe(401);
  // It is asked again until it has acknowledged, as a notice does.
  let state: unknown;
  for (let tries = 0; tries < 1000 && state !== 'Acknowledged'; tries += 1) {
    ({ state } = (await example.call('Notify', 'secret')).body);
  }
  expect(state).toBe('Acknowledged');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ group: 'trainer', savedFor: 'n1' });
  expect((await example.call('Withdraw', 'secret')).status).toBe(200);
  expect((await example.call('Nonsense', 'secret')).status).toBe(400);
  rmSync(join(path, '..'), { recursive: true, force: true });
});

/** A result of `quorate simulate`, opened on the page and gone through with the slider. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import type { SimulationResult } from '../../src/tasks/index.ts';
import { startHost } from '../clients/host.ts';
import { launch, openPage } from './chromium.ts';

/** As the command prints it: the compiler holds it to that. */
const result: SimulationResult = {
  actions: [{ action: { kind: 'upgrade' }, finished: true, outcome: 'Drained', endSeconds: 60 }],
  seconds: 60,
  settled: true,
  end: 'Finished',
  budgets: [
    {
      id: 'ml/train',
      unit: 'groups',
      points: [
        { seconds: 0, available: 3, desired: 2 },
        { seconds: 10, available: 1, desired: 2 },
        { seconds: 50, available: 3, desired: 2 },
      ],
      violations: [],
      disruptedOnce: 1,
      disruptedAgain: 1,
    },
  ],
  disruptedOnce: ['ml/PodGroup/gang-0'],
  disruptedAgain: [{ group: 'ml/PodGroup/gang-1', times: 2 }],
  pods: { before: { total: 6, ready: 6, pending: 0 }, after: { total: 6, ready: 6, pending: 0 } },
  nodes: 3,
  changes: { created: 3, deleted: 3 },
  events: [
    { seconds: 0, text: 'node a cordoned' },
    { seconds: 10, text: 'pod ml/gang-0-0 is gone' },
  ],
  problems: [],
  countedTwice: [],
};

const folder = mkdtempSync(join(tmpdir(), 'quorate-replay-'));
let host: EmbeddedHost;
let browser: Browser;

beforeAll(async () => {
  [browser, host] = await Promise.all([launch(), startHost({ nodes: 1 })]);
});
afterAll(async () => {
  await browser?.close();
  await host?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('22.1: the slider goes through what was simulated, by mouse and by keyboard', async () => {
  const { complaints, page } = await openPage(browser, host.dashboardLink());
  await page.getByRole('navigation').getByRole('link', { name: 'Drain' }).click();
  const replay = page.getByRole('region', { name: 'Replay a simulation' });
  const input = replay.getByLabel('Result of a simulation');
  const file = join(folder, 'result.json');
  writeFileSync(file, 'no result');
  await input.setInputFiles(file);
  await expect.poll(() => replay.getByRole('alert').textContent()).toContain('This is no JSON');
  writeFileSync(file, JSON.stringify(result));
  await input.setInputFiles([]);
  await input.setInputFiles(file);
  const slider = replay.getByRole('slider', { name: 'Moment of the simulation' });
  const budget = replay.getByRole('article', { name: 'Budget ml/train' });
  await expect
    .poll(() => budget.getByRole('img').first().getAttribute('aria-label'))
    .toContain('3 of 3 groups healthy');
  expect(await replay.textContent()).toContain('2 groups go down in all, 1 more than once.');
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => budget.textContent()).toContain('broken: 1 too few');
  expect(await slider.getAttribute('aria-valuetext')).toBe('10 seconds');
  await expect.poll(() => replay.getByRole('listitem').allTextContents()).toContain('10 s pod ml/gang-0-0 is gone');
  await page.keyboard.press('End');
  await expect.poll(() => budget.textContent()).not.toContain('broken');
  expect(complaints).toEqual([]);
});

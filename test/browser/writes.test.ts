/** The page of a server that was started with --allow-writes: what it says before it acts, and that it does. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedHost, startEmbedded } from '../../src/app/index.ts';
import { maintenanceType } from '../../src/api/quorate/maintenance.ts';
import { nodeType } from '../../src/api/resource-types.ts';
import { silentLogger } from '../../src/machinery/runtime/index.ts';
import { seriousProblems } from './axe.ts';
import { launch, type OpenPage, openPage } from './chromium.ts';
import { createDemoFleet } from './demo-fleet.ts';

const folder = mkdtempSync(join(tmpdir(), 'quorate-writes-'));
let host: EmbeddedHost;
let browser: Browser;
let opened: OpenPage;
let page: Page;

beforeAll(async () => {
  const kubeconfig = join(folder, 'kubeconfig');
  const common = { port: 0, bind: '127.0.0.1', kubeconfig, nodes: 0, log: silentLogger };
  host = await startEmbedded({ ...common, allowWrites: true });
  [browser] = await Promise.all([launch(), createDemoFleet(host.client)]);
  opened = await openPage(browser, host.dashboardLink(), { bypassCSP: true });
  ({ page } = opened);
  await page.getByRole('grid').waitFor();
  await page.getByRole('navigation').getByRole('link', { name: 'Drain' }).click();
});

afterAll(async () => {
  await browser?.close();
  await host?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const isCordoned = async (name: string): Promise<boolean> =>
  (await host.client.get(nodeType, { name })).spec?.unschedulable === true;

test('22.1: a cordon asks first; whoever leaves it has changed nothing', async () => {
  await page.getByRole('checkbox', { name: 'serve-01' }).check();
  await page.getByRole('button', { name: 'Cordon…', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Cordon 1 node?' });
  expect(await dialog.textContent()).toContain('No pod and no group goes down.');
  expect(await seriousProblems(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await expect.poll(() => dialog.count()).toBe(0);
  expect(await isCordoned('serve-01')).toBe(false);
  await page.getByRole('button', { name: 'Cordon…', exact: true }).click();
  await dialog.getByRole('button', { name: 'Cordon 1 node' }).click();
  await expect.poll(() => isCordoned('serve-01')).toBe(true);
  await page.getByRole('button', { name: 'Uncordon…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Uncordon 1 node' }).click();
  await expect.poll(() => isCordoned('serve-01')).toBe(false);
  await page.getByRole('button', { name: 'Clear' }).click();
});

test('22.1: a drain names the groups that go down, runs as a Maintenance, and is paused and resumed', async () => {
  // The budget of the web service lets nothing go from the second one, so that the drain stays to be looked at.
  for (const name of ['train-a-00', 'serve-00']) await page.getByRole('checkbox', { name }).check();
  await page.getByRole('button', { name: 'Plan a drain of 2 nodes' }).click();
  await page.getByRole('button', { name: 'Drain 2 nodes…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Drain 2 nodes?' });
  expect(await dialog.textContent()).toContain('cannot move now');
  expect(await dialog.textContent()).toContain('would go down:');
  const named = await dialog.getByRole('list', { name: 'Goes down' }).getByRole('listitem').allTextContents();
  expect(named).toContainEqual(expect.stringMatching(/^training\/PodGroup\/gang-\d\d$/));
  await dialog.getByRole('button', { name: 'Drain 2 nodes' }).click();
  const running = page.getByRole('article', { name: /^Maintenance drain-/ });
  await running.waitFor();
  const [made] = (await host.client.list(maintenanceType)).items;
  const name = made?.metadata.name ?? '';
  const spec = async () => (await host.client.get(maintenanceType, { name })).spec;
  expect((await spec())?.nodes).toEqual({ names: ['serve-00', 'train-a-00'] });
  await running.getByRole('button', { name: 'Pause…' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: `Pause ${name}` })
    .click();
  await expect.poll(async () => (await spec())?.paused).toBe(true);
  await running.getByRole('button', { name: 'Resume…' }).click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: `Resume ${name}` })
    .click();
  await expect.poll(async () => (await spec())?.paused).toBe(false);
});

test('22.1: what the server refuses is said where it was asked', async () => {
  await page.route('**/k8s/api/v1/nodes/*', (route) =>
    route.fulfill({ status: 403, body: JSON.stringify({ kind: 'Status', message: 'nodes is forbidden: not you' }) }),
  );
  await page.getByRole('checkbox', { name: 'serve-02' }).check();
  await page.getByRole('button', { name: 'Cordon…', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /^Cordon \d/ }).click();
  await expect.poll(() => dialog.getByRole('alert').textContent()).toBe('nodes is forbidden: not you');
  await dialog.getByRole('button', { name: 'Leave it as it is' }).click();
});

test('22.1: in all of this the console had nothing else to complain of', () => {
  expect(opened.complaints.filter((text) => !text.includes('403'))).toEqual([]);
});

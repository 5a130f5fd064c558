/** Open pages when the API server goes away and comes back: at /ui/, and with quorate dashboard. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtinType } from '../../src/api/registry.ts';
import { type EmbeddedHost, type LocalDashboard, serveLocalDashboard, startEmbedded } from '../../src/app/index.ts';
import {
  createClient,
  createHttpTransport,
  loadKubeconfig,
  silentLogger,
  systemClock,
} from '../../src/machinery/runtime/index.ts';
import { launch, openPage } from './chromium.ts';

const folder = mkdtempSync(join(tmpdir(), 'quorate-restart-'));
const kubeconfig = join(folder, 'kubeconfig');
let browser: Browser;
let host: EmbeddedHost;
let local: LocalDashboard;

const start = (port: number): Promise<EmbeddedHost> =>
  startEmbedded({
    dataDirectory: join(folder, 'data'),
    port,
    bind: '127.0.0.1',
    kubeconfig,
    nodes: 3,
    log: silentLogger,
  });

beforeAll(async () => {
  [browser, host] = await Promise.all([launch(), start(0)]);
  const transport = createHttpTransport(loadKubeconfig({ path: kubeconfig }));
  local = await serveLocalDashboard({
    client: createClient({ transport: transport.send, userAgent: 'test' }),
    transport: transport.send,
    server: host.url,
    user: 'admin',
    namespace: 'default',
    port: 0,
    clock: systemClock,
    log: silentLogger,
  });
});

afterAll(async () => {
  await browser?.close();
  await local?.close();
  await host?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a page says that it is stale while the server is away, and goes on when it is back', async () => {
  const pages = await Promise.all([openPage(browser, host.dashboardLink()), openPage(browser, local.link())]);
  expect(pages.map(({ page }) => new URL(page.url()).protocol)).toEqual(['https:', 'http:']);
  const status = pages.map(({ page }) => page.locator('.health [role=status]'));
  const grids = pages.map(({ page }) => page.getByRole('grid'));
  for (const grid of grids) await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('3');
  const port = Number(new URL(host.url).port);
  await host.stop();
  for (const one of status) await expect.poll(() => one.textContent()).toMatch(/^Stale since/);
  for (const grid of grids) expect(await grid.getAttribute('aria-rowcount')).toBe('3');
  host = await start(port);
  for (const one of status) await expect.poll(() => one.textContent()).toBe('Live');
  await host.client.create(builtinType('Node'), { metadata: { name: 'late' } });
  for (const grid of grids) await expect.poll(() => grid.getAttribute('aria-rowcount')).toBe('4');
});

test('whoever knows the port but not the link gets nothing', async () => {
  const { origin, pathname } = new URL(local.link());
  for (const path of ['/', '/ui/', '/ui/stream', '/api/v1/pods']) expect((await fetch(origin + path)).status).toBe(404);
  const headers = { 'x-quorate-ui': '1' };
  const session = await fetch(`${origin}${pathname}session`, { headers });
  expect(await session.json()).toEqual({ login: 'Link' });
  for (const path of ['stream', 'k8s/api/v1/pods']) {
    expect((await fetch(origin + pathname + path, { headers })).status).toBe(401);
  }
});

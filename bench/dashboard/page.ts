/**
 * The page in Chromium at 5,000 nodes and 100,000 pods: until it shows them, how many frames a second it has while the
 * matrix is scrolled both ways, and what its tab takes. The server is the API server alone: nobody looks after the nodes.
 */
import { readFileSync } from 'node:fs';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { findChromium, launch, openPage } from '../../test/browser/chromium.ts';
import { createLoad, expectStatus } from '../control-plane/load.ts';
import { startQuorate, withFolder } from '../control-plane/target.ts';
import { report } from '../report.ts';
import { askForLogin } from './log-in.ts';
import { seedFleet } from './seed.ts';

const NODES = Number(process.env['QUORATE_BENCH_NODES'] ?? 5000);
const PODS = Number(process.env['QUORATE_BENCH_PODS'] ?? 100_000);
const BUDGETS = 50;
const SECONDS = 8;

interface Frames {
  readonly perSecond: number;
  /** The longest that nothing moved. */
  readonly longestMs: number;
}

export async function benchPage(): Promise<void> {
  if (findChromium() === undefined) {
    report('dashboard: the page', 'not measured: Chromium is not installed');
    return;
  }
  await withFolder(async (folder) => {
    await seedFleet(folder, { nodes: NODES, pods: PODS, groupSize: 8 });
    const target = await startQuorate(folder, { apiOnly: true });
    const { close, send } = createLoad(target, 4);
    const browser = await launch();
    try {
      for (let at = 0; at < BUDGETS; at += 1) {
        const spec = { minAvailable: 1, selector: { matchLabels: { app: `app-${at}` } } };
        const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: `b-${at}` }, spec };
        const path = '/apis/policy/v1/namespaces/default/poddisruptionbudgets';
        await expectStatus(send('POST', path, JSON.stringify(budget)), 201);
      }
      await measure(browser, `${target.server}${await askForLogin(target)}`);
    } finally {
      await browser.close();
      close();
      await target.stop();
    }
  });
}

async function measure(browser: Browser, link: string): Promise<void> {
  const what = `dashboard: ${NODES} nodes, ${PODS} pods`;
  const started = performance.now();
  const { page } = await openPage(browser, link);
  const grid = page.getByRole('grid');
  await grid.waitFor();
  report(`${what}, on the page after`, `${((performance.now() - started) / 1000).toFixed(1)} s`);
  const rows = Number(await grid.getAttribute('aria-rowcount'));
  if (rows !== NODES) throw new Error(`The matrix has ${rows} rows and not ${NODES}`);
  for (const [name, zooms] of [
    ['as it opens', 0],
    ['zoomed out as far as it goes', -9],
    ['zoomed in as far as it goes', 9],
  ] as const) {
    await zoom(page, zooms);
    const { longestMs, perSecond } = await scroll(page);
    const goal = { target: 'at least 50', met: perSecond >= 50 };
    report(
      `  frames a second while it scrolls, ${name}`,
      `${perSecond.toFixed(0)}, the longest ${longestMs.toFixed(0)} ms`,
      goal,
    );
  }
  const { heapMb, tabMb } = await memoryOf(browser, page);
  const goal = { target: 'under 400 MB', met: tabMb < 400 };
  report('  the tab, its process as a whole', `${tabMb.toFixed(0)} MB, of it ${heapMb.toFixed(0)} MB of objects`, goal);
}

async function zoom(page: Page, by: number): Promise<void> {
  const button = page.getByRole('button', { name: by < 0 ? 'Zoom out' : 'Zoom in' });
  for (let at = 0; at < Math.abs(by) && (await button.isEnabled()); at += 1) await button.click();
}

/** Down and across all of it, with as many steps as there are frames. Counted where a person would see them. */
function scroll(page: Page): Promise<Frames> {
  const script = `new Promise((resolve) => {
    const grid = document.querySelector('[role=grid]');
    const reach = { top: grid.scrollHeight - grid.clientHeight, left: grid.scrollWidth - grid.clientWidth };
    const begun = performance.now();
    let [frames, last, longest] = [0, begun, 0];
    const step = (now) => {
      frames += 1;
      longest = Math.max(longest, now - last);
      last = now;
      const at = (now - begun) / ${SECONDS * 1000};
      if (at >= 1) return resolve({ perSecond: frames / ((now - begun) / 1000), longestMs: longest });
      grid.scrollTop = reach.top * Math.abs(Math.sin(at * Math.PI * 2));
      grid.scrollLeft = reach.left * at;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  })`;
  return page.evaluate<Frames>(script);
}

async function memoryOf(browser: Browser, page: Page): Promise<{ tabMb: number; heapMb: number }> {
  const own = await page.context().newCDPSession(page);
  await own.send('HeapProfiler.collectGarbage');
  const { usedSize } = await own.send('Runtime.getHeapUsage');
  return { heapMb: usedSize / 1e6, tabMb: Math.max(...(await rendererMb(await browser.newBrowserCDPSession()))) };
}

/** What each page's process has for itself. */
async function rendererMb(session: CDPSession): Promise<number[]> {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo
    .filter(({ type }) => type === 'renderer')
    .map(({ id }) => {
      const [, kilobytes = '0'] = /^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'utf8')) ?? [];
      return Number(kilobytes) / 1000;
    });
}

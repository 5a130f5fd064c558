/**
 * Takes the pictures of the dashboard that README and guides show, from the fleet the browser tests use. Needs Chromium
 * and a build: npm run docs:pictures. With a folder as argument it takes every screen, wide and narrow, dark and light.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { launch, openPage } from '../test/browser/chromium.ts';
import { createDemoFleet, until } from '../test/browser/demo-fleet.ts';
import { startHost } from '../test/clients/host.ts';
import { POWER } from '../src/app/index.ts';
import { nodeType, podType } from '../src/api/resource-types.ts';

const DOCS = join(import.meta.dirname, '../docs/pictures');
const folder = process.argv[2];

const click = (page: Page, name: string): Promise<void> =>
  page.getByRole('navigation').getByRole('link', { name }).click();

/** Brings each screen into a state that is worth a picture. */
const SCREENS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  fleet: async (page) => {
    await click(page, 'Fleet');
    await page.getByRole('grid').waitFor();
  },
  budgets: async (page) => {
    await click(page, 'Budgets');
    const first = page.getByRole('article').first();
    if ((await first.locator('.why').count()) === 0) await first.getByRole('button').first().click();
  },
  drain: async (page) => {
    await click(page, 'Drain');
    // Half of a pool: the other half takes what moves.
    for (const at of [0, 1, 2, 3]) await page.getByRole('checkbox', { name: `train-a-0${at}` }).check();
    await page.getByRole('button', { name: /^Plan a drain of/ }).click();
    await page.getByRole('region', { name: 'Timeline of the plan' }).waitFor();
  },
  groups: async (page) => {
    await click(page, 'Groups');
    await page.locator('.group-list a').first().click();
    await page.locator('.events li').first().waitFor();
  },
  'what-if': async (page) => {
    await click(page, 'What if');
    await page.getByLabel('Add a node').selectOption('train-a-04');
    await page.getByRole('button', { name: 'Work it out' }).click();
    await page.getByRole('region', { name: 'The answer' }).waitFor();
  },
};

interface Look {
  readonly colorScheme: 'light' | 'dark';
  readonly width: number;
}

/** Higher than a window where a screen is longer: all of it is looked at. */
const HEIGHT = folder === undefined ? 900 : 1300;

const LOOKS: readonly Look[] =
  folder === undefined
    ? [{ colorScheme: 'light', width: 1440 }]
    : [1440, 390].flatMap((width) => [
        { colorScheme: 'light', width } as const,
        { colorScheme: 'dark', width } as const,
      ]);

const host = await startHost({ nodes: 0 });
const browser = await launch();

async function take(names: readonly string[]): Promise<void> {
  mkdirSync(folder ?? DOCS, { recursive: true });
  for (const { colorScheme, width } of LOOKS) {
    const viewport = { width, height: width < 500 ? 1600 : HEIGHT };
    const { context, page } = await openPage(browser, host.dashboardLink(), { colorScheme, viewport });
    await page.getByRole('grid').waitFor();
    for (const name of names) {
      await SCREENS[name]?.(page);
      const file = folder === undefined ? `${name}.png` : `${name}-${width}-${colorScheme}.png`;
      await page.screenshot({ path: join(folder ?? DOCS, file), animations: 'disabled' });
    }
    await context.close();
  }
}

/** One node loses its power, and with it the gangs that need their pods there. */
async function switchOff(name: string): Promise<void> {
  const body = { metadata: { annotations: { [POWER]: 'off' } } };
  await host.client.patch(nodeType, { name }, { type: 'merge', body });
  await until(async () => {
    const { items } = await host.client.list(podType, { fieldSelector: `spec.nodeName=${name}` });
    return items.every(({ status }) =>
      status?.conditions?.some((one) => one.type === 'Ready' && one.status !== 'True'),
    );
  });
}

try {
  await createDemoFleet(host.client);
  const cordon = { type: 'merge', body: { spec: { unschedulable: true } } } as const;
  await host.client.patch(nodeType, { name: 'serve-00' }, cordon);
  await take(['drain']);
  await switchOff('train-b-07');
  await take(folder === undefined ? ['fleet'] : ['fleet', 'budgets', 'groups', 'what-if']);
} finally {
  await browser.close();
  await host.stop();
}

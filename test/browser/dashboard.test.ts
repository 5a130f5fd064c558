/** The dashboard in Chromium, on a host with a fleet: by what a person sees, hears and types. */
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { startHost } from '../clients/host.ts';
import { createKubectl, type Kubectl } from '../clients/kubectl.ts';
import { seriousProblems } from './axe.ts';
import { launch, type OpenPage, openPage } from './chromium.ts';
import { createDemoFleet, GANGS, SPARE_GANGS } from './demo-fleet.ts';

let host: EmbeddedHost;
let kubectl: Kubectl;
let browser: Browser;
let admin: OpenPage;
let page: Page;

beforeAll(async () => {
  host = await startHost({ nodes: 0 });
  [browser] = await Promise.all([launch(), createDemoFleet(host.client)]);
  kubectl = createKubectl(host.kubeconfig);
  admin = await openPage(browser, host.dashboardLink());
  ({ page } = admin);
  await page.getByRole('grid').waitFor();
});

afterAll(async () => {
  await browser?.close();
  kubectl?.close();
  await host?.stop();
});

const goTo = (screen: string): Promise<void> =>
  page.getByRole('navigation').getByRole('link', { name: screen }).click();

test('the page is small, and has nothing inline', () => {
  const folder = join(import.meta.dirname, '../../dist/dashboard');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));
  const bytes = files.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length, 0);
  process.stdout.write(`the page: ${Math.round(bytes / 1024)} KB gzipped\n`);
  expect(bytes).toBeLessThan(150 * 1024);
  const html = readFileSync(join(folder, 'index.html'), 'utf8');
  expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|https?:/);
});

test('logging in leaves nothing in the address, in storage or within reach of scripts', async () => {
  expect(new URL(page.url()).hash).toBe('');
  const kept = await page.evaluate<Record<string, string | number>>(
    '({ local: localStorage.length, session: sessionStorage.length, cookie: document.cookie, html: document.documentElement.outerHTML })',
  );
  expect(kept).toMatchObject({ local: 0, session: 0, cookie: '' });
  expect(kept.html).not.toMatch(/BEGIN|Bearer|client-key|login=/);
});

test('Fleet: every group has its mark, and a filter narrows what is shown', async () => {
  await goTo('Fleet');
  const whole = page.getByRole('button', { name: 'Whole' });
  await expect.poll(() => whole.textContent()).toContain(String(GANGS - SPARE_GANGS + 4));
  const grid = page.getByRole('grid');
  expect(await grid.getAttribute('aria-rowcount')).toBe('20');
  expect(await grid.getAttribute('aria-colcount')).toBe(String(GANGS + 4));
  await page.getByLabel('Namespace').selectOption('serving');
  await expect.poll(() => grid.getAttribute('aria-colcount')).toBe('3');
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByLabel('Pod labels').fill('gang=gang-03');
  await expect.poll(() => grid.getAttribute('aria-colcount')).toBe('1');
  await page.getByRole('button', { name: 'Clear' }).click();
});

test('keyboard alone: from the address bar to a plan for two nodes', async () => {
  await goTo('Fleet');
  await page.reload();
  await page.getByRole('grid').waitFor();
  const press = (key: string): Promise<void> => page.keyboard.press(key);
  await press('Tab');
  expect(await page.evaluate('document.activeElement?.textContent')).toBe('Skip to content');
  const isGrid = (): Promise<boolean> => page.evaluate("document.activeElement?.getAttribute('role') === 'grid'");
  for (let presses = 0; !(await isGrid()); presses += 1) {
    expect(presses).toBeLessThan(40);
    await press('Tab');
  }
  await press(' ');
  await press('ArrowDown');
  await press(' ');
  const cursor = page.locator('#matrix-cursor');
  await expect.poll(() => cursor.getAttribute('aria-selected')).toBe('true');
  expect(await cursor.textContent()).toMatch(/^serve-01: .*LeaderWorkerSet\/llm/);
  await press('Tab');
  expect(await page.evaluate('document.activeElement?.textContent')).toBe('Plan a drain');
  await press('Enter');
  await page.getByRole('button', { name: 'Plan a drain of 2 nodes' }).focus();
  await press('Enter');
  await page.getByRole('group', { name: 'The plan in figures' }).waitFor();
  await page.getByRole('region', { name: 'Timeline of the plan' }).waitFor();
  await page.getByRole('button', { name: 'Clear' }).click();
});

test('Budgets: the one that blocks most first, with why and a command', async () => {
  await goTo('Budgets');
  const first = page.getByRole('article').first();
  expect(await first.getAttribute('aria-label')).toBe('pdb web in shop');
  await first.getByRole('button', { name: /web/ }).click();
  await expect.poll(() => first.textContent()).toContain('5 of 5 expected healthy, 5 needed, 0 may be disrupted');
  expect(await first.locator('.command code').textContent()).toBe(
    `kubectl patch pdb web -n shop --type merge -p '{"spec":{"minAvailable":4}}'`,
  );
  const guard = page.getByRole('article', { name: 'pub llm in serving' });
  expect(await guard.getByRole('img').getAttribute('aria-label')).toBe('3 of 3 groups healthy, 2 needed, 1 may go');
});

test('Groups: members, where they are, what they would be answered, and events', async () => {
  await goTo('Groups');
  await page.getByLabel('Find a group or node').fill('gang-07');
  await page.getByRole('link', { name: /gang-07/ }).click();
  const detail = page.getByRole('region', { name: 'Group training/PodGroup/gang-07' });
  await expect.poll(() => detail.getByRole('row').count()).toBe(5);
  expect(await detail.textContent()).toContain('All of it may go now');
  expect(await detail.getByRole('row').nth(1).textContent()).toMatch(/gang-07-0train-b-0\dReady.*may go/);
  await expect.poll(() => detail.locator('.events li').count()).toBeGreaterThan(0);
  await page.getByRole('button', { name: 'Clear' }).click();
});

test('What if: a node fails, on a copy, side by side', async () => {
  await goTo('What if');
  await page.getByLabel('Add a node').selectOption('train-a-00');
  await page.getByRole('button', { name: 'Work it out' }).click();
  const answer = page.getByRole('region', { name: 'The answer' });
  await expect
    .poll(() => answer.getByRole('heading').first().textContent())
    .toBe('3 pods would be lost; 1 group breaks');
  expect(await answer.textContent()).toContain('Now: 1 may goThen: 0 may go');
  await page.getByRole('button', { name: 'Take train-a-00 away' }).click();
});

describe('a drain with the real kubectl', () => {
  test('one that goes on is on the page at once, one that is refused with its reason', async () => {
    await goTo('Drain');
    let cordonedAt = 0;
    const ended = kubectl.until(['drain', 'serve-00', '--timeout=20s'], (stdout) => {
      if (cordonedAt === 0 && stdout.includes('cordoned')) cordonedAt = Date.now();
      return false;
    });
    const drain = page.getByRole('article', { name: 'Drain of serve-00' });
    await drain.waitFor();
    process.stdout.write(`on the page ${Date.now() - cordonedAt} ms after kubectl had cordoned the node\n`);
    await expect.poll(() => drain.textContent()).toContain('held up');
    await expect.poll(() => drain.textContent()).toContain('the budget has no room (BudgetExhausted)');
    await kubectl.run(['patch', 'pdb', 'web', '-n', 'shop', '--type=merge', '-p', '{"spec":{"minAvailable":3}}']);
    await ended;
    const section = page.getByRole('region', { name: 'Drains under way' });
    await expect.poll(() => section.textContent()).toContain('Cordoned and empty: serve-00');
    await kubectl.run(['uncordon', 'serve-00']);
    await expect.poll(() => section.textContent()).toContain('No node is cordoned');
  });
});

test('axe finds nothing serious on any screen, dark or light, wide or narrow', async () => {
  for (const [colorScheme, width] of [
    ['light', 1440],
    ['dark', 390],
  ] as const) {
    const options = { colorScheme, viewport: { width, height: 900 }, bypassCSP: true };
    const { context, page: own } = await openPage(browser, host.dashboardLink(), options);
    await own.getByRole('grid').waitFor();
    for (const screen of ['Fleet', 'Budgets', 'Drain', 'Groups', 'What if']) {
      await own.getByRole('navigation').getByRole('link', { name: screen }).click();
      if (screen === 'Budgets') await own.getByRole('article').first().getByRole('button').first().click();
      if (screen === 'Drain') await planOneNode(own);
      if (screen === 'Groups') await own.locator('.group-list a').first().click();
      expect(await seriousProblems(own), `${screen}, ${colorScheme}, ${width} pixels`).toEqual([]);
    }
    await context.close();
  }
});

async function planOneNode(own: Page): Promise<void> {
  await own.getByRole('checkbox', { name: 'train-a-00' }).check();
  await own.getByRole('button', { name: 'Plan a drain of 1 node' }).click();
  await own.getByRole('region', { name: 'Timeline of the plan' }).waitFor();
}

test('a user with the role view in one namespace sees that namespace, and is told so', async () => {
  await kubectl.run(['create', 'serviceaccount', 'viewer', '-n', 'shop']);
  await kubectl.run([
    'create',
    'rolebinding',
    'viewer',
    '-n',
    'shop',
    '--clusterrole=view',
    '--serviceaccount=shop:viewer',
  ]);
  const token = await kubectl.out('create', 'token', 'viewer', '-n', 'shop');
  const path = await askForLogin(token);
  const { complaints, context, page: own } = await openPage(browser, `${host.url}${path}`);
  await expect.poll(() => own.getByRole('complementary').textContent()).toContain('You see namespace shop only');
  await own.getByRole('navigation').getByRole('link', { name: 'Groups' }).click();
  await expect.poll(() => own.locator('.group-list li').allTextContents()).toHaveLength(1);
  expect(await own.locator('.group-list li').first().textContent()).toContain('shop');
  expect(await own.evaluate('document.documentElement.outerHTML')).not.toContain('gang-');
  expect(complaints).toEqual([]);
  await context.close();
});

function askForLogin(token: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    const call = request(
      `${host.url}/ui/logins`,
      { method: 'POST', rejectUnauthorized: false, headers },
      (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
        response.on('end', () => resolve((JSON.parse(text) as { path: string }).path));
      },
    );
    call.on('error', reject);
    call.end();
  });
}

test('on a phone nothing is wider than the screen', async () => {
  const viewport = { width: 390, height: 844 };
  const { context, page: own } = await openPage(browser, host.dashboardLink(), { viewport });
  await own.getByRole('grid').waitFor();
  for (const screen of ['Fleet', 'Budgets', 'Drain', 'Groups', 'What if']) {
    await own.getByRole('navigation').getByRole('link', { name: screen }).click();
    const [scroll, client] = await own.evaluate<number[]>(
      '[document.documentElement.scrollWidth, document.documentElement.clientWidth]',
    );
    expect(scroll, screen).toBe(client);
  }
  await context.close();
});

test('a page that may not log in says what to type, and complains of nothing', async () => {
  const { complaints, context, page: own } = await openPage(browser, `${host.url}/ui/`, { bypassCSP: true });
  const refused = own.getByRole('heading', { name: 'Not logged in' });
  await refused.waitFor();
  expect(await own.textContent('main')).toContain('quorate dashboard');
  expect(complaints).toEqual([]);
  expect(await seriousProblems(own)).toEqual([]);
  await own.goto('about:blank');
  await own.goto(`${host.url}/ui/#login=nothing`);
  await refused.waitFor();
  expect(new URL(own.url()).hash).toBe('');
  await context.close();
});

test('in all of this the console had nothing to complain of', () => {
  expect(admin.complaints).toEqual([]);
});

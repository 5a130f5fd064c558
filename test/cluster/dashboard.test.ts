/**
 * The dashboard that the operator serves, on a real cluster and in Chromium: people log in with a token of the cluster and
 * see what it may read, in the words of the operator that counts.
 */
import { execFile } from 'node:child_process';
import { request } from 'node:https';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { UI_HEADER } from '../../src/api/ui/stream.ts';
import { type NodesHost, type Operator, startNodes } from '../../src/app/index.ts';
import { silentLogger } from '../../src/machinery/runtime/index.ts';
import { seriousProblems } from '../browser/axe.ts';
import { launch, type OpenPage, openPage } from '../browser/chromium.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { budget, budgetsOn, gangs, pod } from './gangs.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let nodes: NodesHost;
let operator: Operator;
let browser: Browser;
let origin: string;
let logged = '';
const budgets = budgetsOn(() => plane);
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);

beforeAll(async () => {
  [plane, browser] = await Promise.all([stage.startPlane(), launch()]);
  nodes = await startNodes({ kubeconfig: plane.kubeconfig, log: silentLogger, nodes: { count: 2 } });
  await stage.prepareCluster(plane);
  const written = new PassThrough().on('data', (chunk: Buffer) => (logged += chunk.toString('utf8')));
  const more = { dashboard: { port: 0, hosts: ['quorate.example'] }, log: pino({ level: 'trace' }, written) };
  operator = await stage.startReplica(plane, 'first', 'adopt', more);
  await stage.registerWebhooks(plane, operator, stage.groupKinds, 'adopt');
  origin = `https://127.0.0.1:${operator.dashboardPort}`;
  await kubectl('create', 'namespace', 'shop');
  await stage.apply(
    plane,
    ...gangs('training', 2, 2, () => ({ nodeName: 'node-0' })),
    budget('training', { minAvailable: 2 }),
    inShop(pod('web-0', 'web', { nodeName: 'node-1' })),
    inShop(budget('web', { minAvailable: 0 })),
    ...account('everything', 'ClusterRoleBinding', 'cluster-admin'),
    ...account('viewer', 'RoleBinding', 'view'),
  );
  await budgets.shows('training', '4/4/4/0');
});

afterAll(async () => {
  await browser?.close();
  await operator?.stop();
  nodes?.stop();
  await plane?.stop();
});

const inShop = <T extends { metadata: object }>(object: T) => ({
  ...object,
  metadata: { ...object.metadata, namespace: 'shop' },
});

function account(name: string, binding: 'ClusterRoleBinding' | 'RoleBinding', role: string): object[] {
  const subjects = [{ kind: 'ServiceAccount', name, namespace: 'shop' }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: 'shop' } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: binding,
      metadata: { name: `page-${name}`, ...(binding === 'RoleBinding' && { namespace: 'shop' }) },
      roleRef,
      subjects,
    },
  ];
}

const tokenOf = async (name: string): Promise<string> =>
  (await kubectl('create', 'token', name, '-n', 'shop', '--duration=1h')).trim();

async function logIn(token: string, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const opened = await openPage(browser, `${origin}/`, options);
  await opened.page.getByLabel('Token').fill(token);
  await opened.page.getByRole('button', { name: 'Log in' }).click();
  return opened;
}

test('22: a token of the cluster logs in, and nothing of it stays where a page or a log could give it away', async () => {
  const token = await tokenOf('everything');
  const { complaints, context, page } = await logIn(token);
  const asked: string[] = [];
  page.on('request', (one) => asked.push(one.url()));
  await page.getByRole('grid').waitFor();
  await expect.poll(() => page.getByRole('grid').getAttribute('aria-rowcount')).toBe('2');
  const kept = await page.evaluate<Record<string, string | number>>(
    '({ local: localStorage.length, session: sessionStorage.length, cookie: document.cookie, html: document.documentElement.outerHTML })',
  );
  expect(kept).toMatchObject({ local: 0, session: 0, cookie: '' });
  const cookies = await context.cookies();
  expect(cookies.map(({ httpOnly, path, sameSite, secure }) => ({ httpOnly, path, sameSite, secure }))).toEqual([
    { httpOnly: true, path: '/ui/', sameSite: 'Strict', secure: true },
  ]);
  for (const [where, text] of Object.entries({ ...kept, asked, cookies: JSON.stringify(cookies), logged })) {
    // The last part of a token is its signature: nothing else has it.
    expect(String(text).includes(token.split('.')[2] as string), where).toBe(false);
  }
  expect(complaints).toEqual([]);
  await context.close();
});

test('22: a drain that the operator refuses is on the page within a second, with its reason', async () => {
  const { complaints, context, page } = await logIn(await tokenOf('everything'));
  await page.getByRole('navigation').getByRole('link', { name: 'Budgets' }).click();
  const gauge = page.getByRole('article', { name: 'pdb training in default' }).getByRole('img');
  await expect.poll(() => gauge.getAttribute('aria-label')).toBe('2 of 2 groups healthy, 2 needed, 0 may go');
  await page.getByRole('navigation').getByRole('link', { name: 'Drain' }).click();
  const program = join(plane.binaries, 'kubectl');
  const drain = execFile(program, ['--kubeconfig', plane.kubeconfig, 'drain', 'node-0', '--force', '--timeout=20s']);
  let cordonedAt = 0;
  drain.stdout?.on('data', (chunk: Buffer) => {
    if (cordonedAt === 0 && chunk.includes('cordoned')) cordonedAt = Date.now();
  });
  const shown = page.getByRole('article', { name: 'Drain of node-0' });
  await shown.waitFor();
  process.stdout.write(`on the page ${Date.now() - cordonedAt} ms after kubectl had cordoned the node\n`);
  await expect.poll(() => shown.textContent()).toContain('the budget has no room (BudgetExhausted)');
  drain.kill();
  await kubectl('uncordon', 'node-0');
  expect(complaints).toEqual([]);
  await context.close();
});

test('22: whoever may view one namespace sees that one, and once the token is void nothing', async () => {
  const { complaints, context, page } = await logIn(await tokenOf('viewer'));
  await expect.poll(() => page.getByRole('complementary').textContent()).toContain('You see namespace shop only');
  await page.getByRole('navigation').getByRole('link', { name: 'Budgets' }).click();
  await page.getByRole('article', { name: 'pdb web in shop' }).waitFor();
  expect(await page.getByRole('article').count()).toBe(1);
  expect(await page.evaluate('document.documentElement.outerHTML')).not.toContain('training');
  expect(complaints).toEqual([]);
  await kubectl('delete', 'serviceaccount', 'viewer', '-n', 'shop');
  await page.getByRole('heading', { name: 'Logged out' }).waitFor();
  await context.close();
});

test('22: a token that the cluster does not know is refused in words, also on a phone', async () => {
  const { context, page } = await logIn('nobody.knows.this', {
    bypassCSP: true,
    viewport: { width: 390, height: 844 },
  });
  await expect
    .poll(() => page.getByRole('alert').textContent())
    .toBe('The cluster does not know this token, or it has expired.');
  expect(await seriousProblems(page)).toEqual([]);
  await context.close();
});

test('22: a page from elsewhere neither reads nor logs in, and no name that was made to point here is answered', async () => {
  const own = { host: new URL(origin).host, [UI_HEADER]: '1' };
  expect(await ask('GET', '/ui/stream', own)).toBe(401);
  expect(await ask('GET', '/ui/stream', { ...own, origin: 'https://evil.example' })).toBe(403);
  expect(await ask('POST', '/ui/session', { ...own, 'sec-fetch-site': 'cross-site' })).toBe(403);
  expect(await ask('POST', '/ui/logins', own)).toBe(403);
  expect(await ask('GET', '/ui/', { ...own, host: 'evil.example' })).toBe(421);
  expect(await ask('GET', '/ui/', { ...own, host: 'quorate.example' })).toBe(200);
  expect(await ask('GET', '/ui/', { ...own, host: 'quorate-dashboard.quorate-system.svc' })).toBe(200);
  expect(await ask('GET', '/metrics', own)).toBe(404);
});

function ask(method: string, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(`${origin}${path}`, { method, headers, rejectUnauthorized: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    call.on('error', reject).end();
  });
}

/** Debian's Chromium, or another that CHROMIUM names, driven without a download of its own. */
import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const PLACES = [
  process.env['CHROMIUM'] ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

export const findChromium = (): string | undefined => PLACES.find((place) => place !== '' && existsSync(place));

/** Chromium asks nobody for anything: there is nobody to ask. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--enable-precise-memory-info',
];

export function launch(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('Chromium is not installed');
  return chromium.launch({ executablePath, args: FLAGS });
}

export interface OpenPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the console complained of, and what was asked of anybody but the server of the link. */
  readonly complaints: string[];
}

/** A browser of its own, logged in with a link. The server's certificate is its own, so nobody vouches for it. */
export async function openPage(browser: Browser, link: string, options: BrowserContextOptions = {}): Promise<OpenPage> {
  const context = await browser.newContext({
    ignoreHTTPSErrors: true,
    viewport: { width: 1440, height: 900 },
    ...options,
  });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const complaints: string[] = [];
  const { origin } = new URL(link);
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin)) complaints.push(`asked ${request.url()}`);
  });
  await page.goto(link);
  return { page, context, complaints };
}

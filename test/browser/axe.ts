/** What axe finds on a page. The page must have been opened with `bypassCSP`: its policy forbids what axe is. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';

const SOURCE = readFileSync(join(import.meta.dirname, '../../node_modules/axe-core/axe.min.js'), 'utf8');

interface Violation {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** Serious problems, a line each. */
export async function seriousProblems(page: Page): Promise<string[]> {
  await page.evaluate(SOURCE);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } };
    const { violations } = await axe.run();
    return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html}`);
  });
  return found.filter((text) => /^(serious|critical)/.test(text));
}

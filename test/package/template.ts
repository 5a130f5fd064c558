/** The template of an operator with tests, as it is run under each test runner. */
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const TEST = join('test', 'operator.test.mjs');
const FIRST_LINE = "import { test } from 'node:test';\n";

/** The first line of its tests, by runner, as its README says it. */
const FIRST_LINES = { 'node:test': FIRST_LINE, vitest: "import { test } from 'vitest';\n", jest: '' } as const;

export type Runner = keyof typeof FIRST_LINES;

/** Copies the template to a folder, written for this runner; `packages` are linked from where they are installed here. */
export function copyTemplate(
  from: string,
  to: string,
  { packages, runner }: { packages: string[]; runner: Runner },
): void {
  cpSync(join(from, 'examples', 'testkit-template'), to, { recursive: true });
  const text = readFileSync(join(to, TEST), 'utf8');
  if (!text.startsWith(FIRST_LINE)) throw new Error(`Cannot write ${TEST} for ${runner}: it begins otherwise`);
  writeFileSync(join(to, TEST), FIRST_LINES[runner] + text.slice(FIRST_LINE.length));
  for (const name of packages) {
    const link = join(to, 'node_modules', name);
    mkdirSync(join(link, '..'), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), link);
  }
}

/** The settings that the README tells users of jest to take. */
export function jestSettings(from: string): string {
  const readme = readFileSync(join(from, 'examples', 'testkit-template', 'README.md'), 'utf8');
  const [, settings] = /^```json\n([^]*?)^```/m.exec(readme) ?? [];
  if (settings === undefined) throw new Error('The README of the template says no settings of jest');
  return settings;
}

/** Guides are read by people with a task, and again when it failed. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const folder = join(import.meta.dirname, '..', '..', 'docs', 'guide');

for (const name of readdirSync(folder)) {
  test(`22.3: ${name} opens with its task, and ends with what to do when it fails`, () => {
    const text = readFileSync(join(folder, name), 'utf8').replaceAll(/^```[^]*?^```/gm, '');
    expect(text).toMatch(/^# [^\n]+\n\n[A-Z*`]/);
    expect([...text.matchAll(/^## (.+)$/gm)].at(-1)?.[1]).toBe('When it fails');
  });
}

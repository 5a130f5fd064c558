import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOM = fileURLToPath(new URL('.', import.meta.url));
const ROOMS = /^\.\.\/(fleet|decisions|api|machinery\/values)\//;
const PACKAGES = new Set(['preact', 'preact/hooks', '@preact/signals']);

/** What dependency-cruiser holds the other files to; it cannot read these. */
test('components import only the fleet, decisions, api, values and what the page is made of', () => {
  const wrong: string[] = [];
  for (const name of readdirSync(ROOM, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.tsx')) continue;
    for (const [, from = ''] of readFileSync(join(ROOM, name), 'utf8').matchAll(/\bfrom '([^']+)'/g)) {
      const place = relative(ROOM, join(ROOM, dirname(name), from));
      const isInside = from.startsWith('.') && (!place.startsWith('..') || ROOMS.test(place));
      if (!isInside && !PACKAGES.has(from)) wrong.push(`${name}: ${from}`);
    }
  }
  expect(wrong).toEqual([]);
});

/** Behind `npm run docs:reference`: writes docs/reference from the sources. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { referencePages } from './reference/pages.ts';

const folder = join(import.meta.dirname, '..', 'docs', 'reference');
mkdirSync(folder, { recursive: true });
for (const [name, text] of referencePages()) writeFileSync(join(folder, name), text);

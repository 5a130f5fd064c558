/** Behind `npm run docs:site`: writes the documentation as a site of plain files to `site`, or to the folder that is named. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { buildSite } from './docs-site/site.ts';

const root = join(import.meta.dirname, '..');
const own = join(root, 'site');
const folder = resolve(process.argv[2] ?? own);
const { dead, files, pages } = buildSite(root);
// What somebody else named may hold more than ours.
if (folder === own) rmSync(folder, { recursive: true, force: true });
for (const [path, text] of pages) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
for (const path of files) cpSync(join(root, path), join(folder, path), { recursive: true });
console.log(`${pages.size} files, and ${files.size} that they link to, in ${folder}. Open index.html.`);
for (const link of dead) console.error(`leads nowhere: ${link}`);
if (dead.length > 0) process.exitCode = 1;

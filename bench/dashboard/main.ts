/** `npm run bench:dashboard`: what the page takes in a browser, and what open pages take of the server. */
import { benchOpenPages } from './open-pages.ts';
import { benchPage } from './page.ts';

const all: Readonly<Record<string, () => Promise<void>>> = { page: benchPage, 'open-pages': benchOpenPages };

const asked = process.argv.slice(2);
for (const [name, run] of Object.entries(all)) {
  if (asked.length === 0 || asked.includes(name)) await run();
}

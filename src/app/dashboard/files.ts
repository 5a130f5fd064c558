/** The built page: read once, served from memory. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

export interface DashboardFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Its name changes with its content. */
  readonly forever: boolean;
}

/** Beside the built code, or, where the sources run, where the build puts it. */
const PLACES = ['../../dashboard/', '../../../dist/dashboard/'].map((place) =>
  fileURLToPath(new URL(place, import.meta.url)),
);

let files: ReadonlyMap<string, DashboardFile> | undefined;

/** The files of the page by their path below it, such as `index.html`; empty when it has not been built. */
export function pageFiles(): ReadonlyMap<string, DashboardFile> {
  if (files !== undefined) return files;
  const found = new Map<string, DashboardFile>();
  const root = PLACES.find((place) => existsSync(join(place, 'assets')));
  if (root === undefined) return found;
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name).slice(root.length).replaceAll('\\', '/');
    const bytes = readFileSync(join(root, path));
    found.set(path, { type, bytes, forever: path.startsWith('assets/') });
  }
  files = found;
  return found;
}

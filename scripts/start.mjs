// Behind `npm start`: builds when the sources are newer than the build, then runs `quorate up` with the same arguments.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const main = join(root, 'dist', 'cli', 'main.js');

function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

if (!existsSync(main) || newest(join(root, 'src')) > statSync(main).mtimeMs) {
  const built = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  if (built.status !== 0) process.exit(built.status ?? 1);
}
const given = process.argv.slice(2);
const args = given[0] === undefined || given[0].startsWith('-') ? ['up', ...given] : given;
// In this process, so that signals reach the control plane itself.
process.argv = [process.execPath, main, ...args];
await import(pathToFileURL(main).href);

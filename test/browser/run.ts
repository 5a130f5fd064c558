/** Runs the browser suite, or says plainly that it did not run. */
import { spawnSync } from 'node:child_process';
import { findChromium } from './chromium.ts';

if (findChromium() === undefined) {
  process.stdout.write('Chromium is not installed: the browser suite did NOT run (apt-get install chromium).\n');
} else {
  const args = ['vitest', 'run', '--config', 'vitest.browser.config.ts', ...process.argv.slice(2)];
  process.exitCode = spawnSync('npx', args, { stdio: 'inherit' }).status ?? 1;
}

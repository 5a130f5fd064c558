/** `quorate up -d`: the same command in a process of its own, left running once it is up. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { dataDirectoryOf, findRunning, runFolder } from '../shared/running.ts';
import { banner, type PlaneFacts } from './banner.ts';
import type { UpFlags } from './flags.ts';
import { complain } from '../shared/complain.ts';

const LINES_SHOWN = 10;

export async function runDetached(flags: UpFlags): Promise<number> {
  const dataDirectory = dataDirectoryOf(flags.dataDir);
  const other = findRunning(dataDirectory);
  if (other !== undefined) {
    complain(
      `quorate up: already up at ${other.url} (process ${other.pid}); quorate down stops it, --data-dir starts another`,
    );
    return 1;
  }
  const log = join(runFolder(dataDirectory), 'up.log');
  if (existsSync(log)) renameSync(log, `${log}.1`);
  const plane = await startChild(log);
  if (plane === undefined) {
    const said = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-LINES_SHOWN).join('\n');
    complain(said);
    return 1;
  }
  process.stdout.write(banner(plane, flags));
  return 0;
}

/** Undefined where it could not start; its log says why. */
function startChild(log: string): Promise<PlaneFacts | undefined> {
  const words = process.argv.slice(2).filter((word) => word !== '-d' && word !== '--detach');
  const output = openSync(log, 'a', 0o600);
  const child = spawn(
    process.execPath,
    [...process.execArgv, process.argv[1] as string, ...words, '--tell-parent', '--log-file', log],
    { detached: true, stdio: ['ignore', output, output, 'ipc'] },
  );
  closeSync(output);
  const stop = (): void => void child.kill('SIGTERM');
  process.once('SIGINT', stop);
  return new Promise((resolve) => {
    const end = (plane: PlaneFacts | undefined): void => {
      process.removeListener('SIGINT', stop);
      child.removeAllListeners();
      child.unref();
      resolve(plane);
    };
    child.once('message', (message) => {
      child.disconnect();
      end(message as PlaneFacts);
    });
    child.once('exit', () => end(undefined));
  });
}

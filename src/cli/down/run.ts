import { setTimeout as sleep } from 'node:timers/promises';
import { dataDirectoryOf, findRunning, isRunning } from '../shared/running.ts';
import { complain } from '../shared/complain.ts';

export interface DownFlags {
  readonly dataDir?: string;
}

const PATIENCE_MS = 20_000;
const LOOK_EVERY_MS = 50;

export async function runDown({ dataDir }: DownFlags): Promise<number> {
  const plane = findRunning(dataDirectoryOf(dataDir));
  if (plane === undefined) {
    process.stdout.write(`No control plane is running on ${dataDirectoryOf(dataDir)}.\n`);
    return 0;
  }
  try {
    process.kill(plane.pid, 'SIGTERM');
  } catch (error) {
    complain(`quorate down: cannot stop process ${plane.pid}: ${(error as Error).message}`);
    return 1;
  }
  for (let waited = 0; isRunning(plane); waited += LOOK_EVERY_MS) {
    if (waited >= PATIENCE_MS) {
      complain(`quorate down: process ${plane.pid} was asked to stop and still runs; see quorate logs`);
      return 1;
    }
    await sleep(LOOK_EVERY_MS);
  }
  const rest = plane.data === undefined ? '' : ' The next quorate up continues here.';
  process.stdout.write(`Stopped ${plane.url}.${rest}\n`);
  return 0;
}

import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { dataDirectoryOf, findRunning, isRunning } from '../shared/running.ts';
import { complain } from '../shared/complain.ts';

export interface LogsFlags {
  readonly dataDir?: string;
  readonly follow?: boolean;
  readonly tail?: number;
}

const LOOK_EVERY_MS = 200;
const PIECE = 64 * 1024;

export async function runLogs({ dataDir, follow, tail }: LogsFlags): Promise<number> {
  const directory = dataDirectoryOf(dataDir);
  const plane = findRunning(directory);
  const path = join(directory, 'run', 'up.log');
  if (plane !== undefined && plane.log === undefined) {
    complain(`quorate logs: process ${plane.pid} runs in the foreground and logs to its terminal`);
    return 1;
  }
  if (!existsSync(path)) {
    complain(`quorate logs: there is no log in ${directory}; quorate up -d writes one`);
    return 1;
  }
  const file = openSync(path, 'r');
  try {
    const said = readOn(file);
    process.stdout.write(tail === undefined ? said : lastLines(said, tail));
    // Its last lines come after it has said that nothing is up here: only the end of the process is the end.
    for (let up = follow === true; up; ) {
      up = plane !== undefined && isRunning(plane);
      process.stdout.write(readOn(file));
      if (up) await sleep(LOOK_EVERY_MS);
    }
    return 0;
  } finally {
    closeSync(file);
  }
}

function readOn(file: number): string {
  const pieces: Buffer[] = [];
  for (;;) {
    const piece = Buffer.alloc(PIECE);
    const size = readSync(file, piece);
    if (size === 0) return Buffer.concat(pieces).toString('utf8');
    pieces.push(piece.subarray(0, size));
  }
}

const lastLines = (text: string, count: number): string =>
  count === 0
    ? ''
    : text
        .split(/(?<=\n)/)
        .slice(-count)
        .join('');

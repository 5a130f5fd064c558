/**
 * The control plane that runs on a data directory, as its own process notes it there: `down`, `status` and `logs` find it
 * by that note.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Option } from 'commander';

export interface RunningPlane {
  readonly pid: number;
  /** When the process began, as the system tells it: a number that another process got since is not taken for it. */
  readonly began: string | undefined;
  readonly url: string;
  readonly kubeconfig: string;
  /** The context in the user's own kubeconfig, where it was merged. */
  readonly context?: string | undefined;
  /** Absent where everything is in memory. */
  readonly data?: string | undefined;
  /** Absent where it runs in the foreground of a terminal. */
  readonly log?: string | undefined;
  /** Since when it is up, in milliseconds. */
  readonly since: number;
}

export function dataDirectoryOf(given: string | undefined): string {
  const usual = join(process.env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'quorate');
  return resolve(given ?? usual);
}

export const dataDirectoryOption = (): Option =>
  new Option('--data-dir <directory>', 'the data directory it was started with (default: ~/.local/share/quorate)');

/** Where the note and the log of a data directory are. */
export function runFolder(dataDirectory: string): string {
  const folder = join(dataDirectory, 'run');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

const notePath = (dataDirectory: string): string => join(dataDirectory, 'run', 'up.json');

export function noteRunning(dataDirectory: string, plane: Omit<RunningPlane, 'pid' | 'began'>): void {
  runFolder(dataDirectory);
  const note: RunningPlane = { pid: process.pid, began: beginOf(process.pid), ...plane };
  writeFileSync(notePath(dataDirectory), `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 });
}

/** Takes the note away if it is this process's own. */
export function forgetRunning(dataDirectory: string): void {
  if (readNote(dataDirectory)?.pid === process.pid) rmSync(notePath(dataDirectory), { force: true });
}

/** The control plane that runs on the data directory now; the note of one that died is none. */
export function findRunning(dataDirectory: string): RunningPlane | undefined {
  const note = readNote(dataDirectory);
  return note !== undefined && isRunning(note) ? note : undefined;
}

function readNote(dataDirectory: string): RunningPlane | undefined {
  try {
    return JSON.parse(readFileSync(notePath(dataDirectory), 'utf8')) as RunningPlane;
  } catch {
    // Absent, or cut off by a crash: either way nobody can be found by it.
    return undefined;
  }
}

export function isRunning({ began, pid }: Pick<RunningPlane, 'pid' | 'began'>): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  return began === undefined || beginOf(pid) === began;
}

/** Undefined where the process is gone, has ended and only waits to be collected, or the system does not tell. */
function beginOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      // The name before it is in brackets and may hold anything.
      const [state, ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return state === 'Z' ? undefined : rest[18];
    } catch {
      return undefined;
    }
  }
  if (process.platform === 'win32') return undefined;
  return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() || undefined;
}

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

const LOCK_PREFIX = 'quorate.lock.';

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When the process started, in the kernel's terms; tells a live holder from a new process with the same id. */
  readonly started?: string;
}

/** Another living process, or another store in this one, has the data directory. */
export class DirectoryInUseError extends Error {
  constructor(directory: string, holder: Holder) {
    super(`Cannot open data directory "${directory}": it is in use by process ${holder.pid} on ${holder.host}`);
    this.name = 'DirectoryInUseError';
  }
}

const ATTEMPTS = 4;

/**
 * Takes the directory for this process; the lock of a process that no longer exists is swept away.
 *
 * Node has no file locks, so each taker first puts up a file that names it and only then looks for files of others:
 * of two that come at once at least one sees the other. Whoever sees another steps back and tries again a moment
 * later, because that one may be stepping back too.
 */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  for (let attempt = 1; ; attempt++) {
    const own = await putUp(directory);
    const other = await findOther(directory, own);
    if (other === undefined) return () => rm(join(directory, own), { force: true });
    await rm(join(directory, own), { force: true });
    if (attempt === ATTEMPTS) throw new DirectoryInUseError(directory, other);
    await setTimeout(10 + Math.random() * 40);
  }
}

/** Written under another name first: a half-written file would look like nobody's. */
async function putUp(directory: string): Promise<string> {
  const holder: Holder = { pid: process.pid, host: hostname(), ...startedAt(process.pid) };
  const unique = randomUUID();
  const draft = join(directory, `quorate.draft.${unique}`);
  try {
    await writeFile(draft, JSON.stringify(holder), { mode: 0o600 });
    await rename(draft, join(directory, LOCK_PREFIX + unique));
  } catch (error) {
    // On a full disk, for one.
    await rm(draft, { force: true });
    throw error;
  }
  return LOCK_PREFIX + unique;
}

async function findOther(directory: string, own: string): Promise<Holder | undefined> {
  for (const file of await readdir(directory)) {
    if (!file.startsWith(LOCK_PREFIX) || file === own) continue;
    const holder = await readHolder(join(directory, file));
    if (holder !== undefined && isAlive(holder)) return holder;
    await rm(join(directory, file), { force: true });
  }
  return undefined;
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const holder = JSON.parse(await readFile(path, 'utf8')) as Partial<Holder>;
    return typeof holder.pid === 'number' && typeof holder.host === 'string' ? (holder as Holder) : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(holder: Holder): boolean {
  // Processes of another machine cannot be asked; someone has to look.
  if (holder.host !== hostname()) return true;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    // EPERM: it exists, and belongs to another user.
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const { started } = startedAt(holder.pid);
  return started === undefined || holder.started === undefined || started === holder.started;
}

function startedAt(pid: number): { started?: string } {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name, in parentheses, may hold anything; the start time is the 20th field after it.
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return started === undefined ? {} : { started };
  } catch {
    return {};
  }
}

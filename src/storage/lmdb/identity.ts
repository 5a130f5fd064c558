import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * What tells a store from every other. It lies in the data file and in a small file beside it, so that a data file that
 * vanished, was emptied or was exchanged is not taken for a new store.
 */
export interface StoreIdentity {
  readonly id: string;
  /** Records up to this revision may be of a version that wrote no checksums. */
  readonly oldUpTo: number;
}

const FILE = 'identity.json';

export function createIdentity(oldUpTo: number): StoreIdentity {
  return { id: randomUUID(), oldUpTo };
}

export function formatIdentity({ id, oldUpTo }: StoreIdentity): string {
  return JSON.stringify({ id, oldUpTo });
}

/** Undefined for what is not an identity. */
export function parseIdentity(text: string | undefined): StoreIdentity | undefined {
  try {
    const { id, oldUpTo } = JSON.parse(text ?? '') as Partial<StoreIdentity>;
    return typeof id === 'string' && typeof oldUpTo === 'number' ? { id, oldUpTo } : undefined;
  } catch {
    return undefined;
  }
}

/** What the file beside the data says; undefined when there is none. */
export function readIdentityFile(directory: string): string | undefined {
  try {
    return readFileSync(join(directory, FILE), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Durable when it returns, as is the data file's own name in the directory. */
export async function writeIdentityFile(directory: string, identity: StoreIdentity): Promise<void> {
  const draft = join(directory, `${FILE}.draft`);
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(formatIdentity(identity));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, join(directory, FILE));
  await syncDirectory(directory);
  await syncDirectory(dirname(directory));
}

async function syncDirectory(directory: string): Promise<void> {
  // Windows has no such call, and keeps names without it.
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

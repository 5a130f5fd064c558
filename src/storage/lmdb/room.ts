import { type FileHandle, open, rm } from 'node:fs/promises';

const FULL = new Map([
  ['ENOSPC', 'no space is left'],
  ['EDQUOT', 'the quota is used up'],
  ['EFBIG', 'the file has reached the largest size allowed'],
]);

/** The disk has no room for a write. Nothing was written. */
export class DiskFullError extends Error {
  constructor(cause: NodeJS.ErrnoException) {
    super(`the disk is full: ${FULL.get(cause.code ?? '') ?? cause.message}`, { cause });
    this.name = 'DiskFullError';
  }
}

/** How much a file grows beyond what is needed: by a part of itself, within bounds. */
const LEAST_STEP_BYTES = 64 * 1024;
const MOST_STEP_BYTES = 1024 * 1024;
const ZERO = Buffer.alloc(1);

/** The disk refuses writes for another reason than that it is full. Nothing was written. */
class DiskFailedError extends Error {
  constructor(cause: NodeJS.ErrnoException) {
    super(`the disk fails: ${cause.message}`, { cause });
    this.name = 'DiskFailedError';
  }
}

const failureOf = (error: unknown): Error => {
  const failure = error as NodeJS.ErrnoException;
  return FULL.has(failure.code ?? '') ? new DiskFullError(failure) : new DiskFailedError(failure);
};

/**
 * Room in a file, taken before it is needed: what lies before `end` has been written once, and can be written again on
 * a full disk. LMDB must not be the one that finds the disk full or failing: it writes its error message past the end
 * of a buffer, over whatever lies behind.
 */
export class DiskRoom {
  readonly #file: FileHandle;
  #end: number;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(file: FileHandle, end: number) {
    this.#file = file;
    this.#end = end;
  }

  /** `used`: bytes that hold data. What lies behind may be a hole, and counts as nothing. */
  static async open(path: string, used: number): Promise<DiskRoom> {
    return new DiskRoom(await open(path, 'r+'), used);
  }

  /**
   * Makes sure that the file can be written up to `bytes`, which is more than what holds data. Throws DiskFullError or
   * DiskFailedError. One call at a time: zeros must not come after the data that an earlier caller was given the room
   * for.
   */
  reserve(bytes: number): Promise<void> {
    const turn = this.#last.then(() => (bytes <= this.#end ? this.#probe() : this.#grow(bytes)));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
  }

  /** Writes a zero over the last one. */
  async #probe(): Promise<void> {
    try {
      await this.#file.write(ZERO, 0, 1, this.#end - 1);
    } catch (error) {
      throw failureOf(error);
    }
  }

  async #grow(bytes: number): Promise<void> {
    try {
      await this.#fill(bytes + Math.min(MOST_STEP_BYTES, Math.max(LEAST_STEP_BYTES, Math.floor(this.#end / 4))));
    } catch (error) {
      if (bytes > this.#end) throw failureOf(error);
    }
  }

  async #fill(end: number): Promise<void> {
    const zeros = Buffer.alloc(Math.min(MOST_STEP_BYTES, end - this.#end));
    while (this.#end < end) {
      const length = Math.min(zeros.length, end - this.#end);
      const { bytesWritten } = await this.#file.write(zeros, 0, length, this.#end);
      this.#end += bytesWritten;
    }
  }
}

/** Throws DiskFullError when a new file of so many bytes would not find room in the directory. */
export async function expectRoom(draft: string, bytes: number): Promise<void> {
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(Buffer.alloc(bytes));
  } catch (error) {
    throw failureOf(error);
  } finally {
    await file.close();
    await rm(draft, { force: true });
  }
}

/**
 * The most pages that one commit can take from the end of the file, if it finds no free ones inside: for each change a
 * leaf, the halves of a split one, and the pages above it (each of them once); for a large value pages of its own; and
 * the list of free pages, eight bytes each, which is written twice in the worst case.
 */
export function mostPages(changes: { count: number; largePages: number }, lastPage: number): number {
  const { count, largePages } = changes;
  return 24 + largePages + 3 * count + Math.min(5 * count, Math.ceil(lastPage / 8)) + Math.ceil(lastPage / 256);
}

/** Pages that only writes which take something away may use, so that a full store can be tidied. */
export function sparePages(lastPage: number): number {
  return mostPages({ count: 8, largePages: 0 }, lastPage);
}

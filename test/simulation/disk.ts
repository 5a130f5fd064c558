import type { StoredEntry } from '../../src/storage/index.ts';
import type { Journal } from '../../src/storage/revisioned-store.ts';

/** What happens to a write on its way to the platter; drawn anew for each. */
export interface DiskTrouble {
  readonly lateMs: number;
  readonly fails: boolean;
}

export interface DiskOptions {
  readonly after: (delayMs: number, callback: () => void) => void;
  readonly trouble: () => DiskTrouble;
  /** Called before a write begins; true ends the process that writes. */
  readonly dies: () => boolean;
  /** A planted bug: writes are called durable before they are. */
  readonly lies?: boolean | undefined;
}

interface Write {
  readonly changes: ReadonlyMap<string, StoredEntry | undefined>;
  readonly revision: number;
}

/** How long a lying disk keeps to itself what it has confirmed. */
const LIE_MS = 400;

/** Keeps what was flushed through the death of whoever wrote it; of a write under way either all is kept or nothing. */
export class SimulatedDisk {
  readonly #options: DiskOptions;
  readonly #kept = new Map<string, StoredEntry>();
  #revision = 0;
  #opened = 0;
  #underWay: Write | undefined;

  constructor(options: DiskOptions) {
    this.#options = options;
  }

  /** Everything up to here would survive a power cut now. */
  get revision(): number {
    return this.#revision;
  }

  get(key: string): StoredEntry | undefined {
    return this.#kept.get(key);
  }

  /** What a process that starts now finds, and where it writes; the process before it writes no more. */
  open(): { journal: Journal; entries: StoredEntry[]; revision: number } {
    this.#opened += 1;
    const opened = this.#opened;
    const keys = [...this.#kept.keys()].sort();
    const entries = keys.map((key) => {
      const { createRevision, revision, value } = this.#kept.get(key) as StoredEntry;
      return { key, value: Buffer.from(value), revision, createRevision };
    });
    const journal: Journal = {
      write: (changes, revision) => this.#write(opened, { changes, revision }),
      check: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
    return { journal, entries, revision: this.#revision };
  }

  /** The writer is gone. Whether the write that was under way got through is for the fault to say. */
  cut(keep: boolean): void {
    this.#opened += 1;
    if (keep && this.#underWay !== undefined) this.#keep(this.#underWay);
    this.#underWay = undefined;
  }

  #write(opened: number, write: Write): Promise<void> {
    return new Promise((resolve, reject) => {
      if (opened !== this.#opened) return;
      this.#underWay = write;
      if (this.#options.dies()) return;
      const { fails, lateMs } = this.#options.trouble();
      const finish = (): void => {
        if (opened !== this.#opened) return;
        this.#underWay = undefined;
        if (fails) {
          reject(new Error('no space left on device'));
          return;
        }
        if (this.#options.lies === true) this.#keepLater(opened, write);
        else this.#keep(write);
        resolve();
      };
      if (lateMs > 0) this.#options.after(lateMs, finish);
      else finish();
    });
  }

  #keepLater(opened: number, write: Write): void {
    this.#options.after(LIE_MS, () => {
      if (opened === this.#opened) this.#keep(write);
    });
  }

  #keep({ changes, revision }: Write): void {
    for (const [key, entry] of changes) {
      if (entry === undefined) this.#kept.delete(key);
      else this.#kept.set(key, entry);
    }
    this.#revision = Math.max(this.#revision, revision);
  }
}

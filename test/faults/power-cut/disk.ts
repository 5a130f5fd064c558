/** What a disk may hold after a power cut, given what a process wrote and flushed. */

const SECTOR = 512;

export type Step =
  | { readonly kind: 'write'; readonly offset: number; readonly bytes: Buffer }
  /** The write of these bytes, noted before, has reached the disk. */
  | { readonly kind: 'written'; readonly offset: number; readonly length: number }
  | { readonly kind: 'flush-started' }
  | { readonly kind: 'flushed' }
  | { readonly kind: 'truncate'; readonly length: number }
  /** The process told somebody. */
  | { readonly kind: 'said'; readonly text: string };

export function parseSteps(log: Buffer): Step[] {
  const steps: Step[] = [];
  for (let at = 0; at + 18 <= log.length; ) {
    const kind = String.fromCharCode(log[at] as number);
    const offset = Number(log.readBigInt64LE(at + 2));
    const length = Number(log.readBigInt64LE(at + 10));
    at += 18;
    const hasBytes = kind === 'w' || kind === 'a';
    // The process was killed while it wrote the log.
    if (hasBytes && at + length > log.length) break;
    const bytes = hasBytes ? log.subarray(at, at + length) : Buffer.alloc(0);
    at += bytes.length;
    if (kind === 'w') steps.push({ kind: 'write', offset, bytes });
    else if (kind === 'd') steps.push({ kind: 'written', offset, length });
    else if (kind === 's') steps.push({ kind: 'flush-started' });
    else if (kind === 'f') steps.push({ kind: 'flushed' });
    else if (kind === 't') steps.push({ kind: 'truncate', length });
    else if (kind === 'a') steps.push({ kind: 'said', text: bytes.toString() });
    else throw new Error(`Cannot read the log of writes: unknown record ${kind}`);
  }
  return steps;
}

interface Pending {
  readonly offset: number;
  readonly bytes: Buffer;
  /** Began before the flush that is under way. */
  covered: boolean;
}

/** Follows the steps one by one; `cut` gives an image of the disk as it may be found if the power goes now. */
export class Disk {
  #durable: Buffer;
  #pending: Pending[] = [];

  constructor(durable: Buffer) {
    this.#durable = Buffer.from(durable);
  }

  apply(step: Step): void {
    if (step.kind === 'write') this.#pending.push({ offset: step.offset, bytes: step.bytes, covered: false });
    else if (step.kind === 'written')
      this.#settle(({ offset, bytes }) => offset === step.offset && bytes.length === step.length);
    else if (step.kind === 'flush-started') for (const write of this.#pending) write.covered = true;
    else if (step.kind === 'flushed') this.#settle(({ covered }) => covered);
    else if (step.kind === 'truncate') throw new Error('Cannot follow: nobody truncates the data file today');
  }

  /**
   * Of what was written and not flushed, each sector is there or not, as chance has it: in any order, and torn. Often
   * whole writes are kept or lost, as most disks would do.
   */
  cut(random: () => number): Buffer {
    const style = random();
    let image = this.#durable;
    for (const { bytes, offset } of shuffled(this.#pending, style < 0.5 ? undefined : random)) {
      const keepWhole = random() < 0.5;
      for (let at = 0; at < bytes.length; ) {
        const end = Math.min(bytes.length, (Math.floor((offset + at) / SECTOR) + 1) * SECTOR - offset);
        if (style < 0.3 ? keepWhole : random() < 0.5)
          image = patched(image, offset + at, bytes.subarray(at, end), this.#durable);
        at = end;
      }
    }
    return image;
  }

  #settle(reached: (write: Pending) => boolean): void {
    for (const { bytes, offset } of this.#pending.filter(reached))
      this.#durable = patched(this.#durable, offset, bytes);
    this.#pending = this.#pending.filter((write) => !reached(write));
  }
}

/** In place, unless the image is still `shared`, or too short. */
function patched(image: Buffer, offset: number, bytes: Buffer, shared?: Buffer): Buffer {
  const length = Math.max(image.length, offset + bytes.length);
  const target = image === shared || length > image.length ? Buffer.alloc(length) : image;
  if (target !== image) image.copy(target);
  bytes.copy(target, offset);
  return target;
}

function shuffled<T>(items: readonly T[], random: (() => number) | undefined): T[] {
  const copy = [...items];
  if (random === undefined) return copy;
  for (let at = copy.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [copy[at], copy[other]] = [copy[other] as T, copy[at] as T];
  }
  return copy;
}

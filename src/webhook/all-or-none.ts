import { isNotFound } from '../machinery/runtime/index.ts';

/** One budget's charge. */
export interface Write {
  readonly put: () => Promise<Undo>;
}

/** Takes back what was written, as far as that is still possible. */
export type Undo = () => Promise<unknown>;

/** Charges one budget after the other, all or none: what was written before a failure is taken back. */
export async function writeAllOrNone(writes: readonly Write[]): Promise<void> {
  const done: Undo[] = [];
  for (const { put } of writes) {
    try {
      done.push(await put());
    } catch (error) {
      // A budget that is gone guards nothing.
      if (isNotFound(error)) continue;
      for (const undo of done) await undo().catch(() => {});
      throw error;
    }
  }
}

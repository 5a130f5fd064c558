import { LIMITS } from '../exchange/limits.ts';

/**
 * Paths of fields that something is wrong with, in order, up to what a client is told. A body can name very many, and
 * each under a very long key, so a path is put together only when it is wanted.
 */
export class FieldProblems {
  readonly #paths = new Set<string>();
  #characters = 0;

  get paths(): string[] {
    return [...this.#paths];
  }

  get isFull(): boolean {
    return this.#paths.size >= LIMITS.fieldProblems || this.#characters >= LIMITS.fieldProblemCharacters;
  }

  add(pathOf: () => string): void {
    if (this.isFull) return;
    const path = pathOf();
    this.#paths.add(path);
    this.#characters += path.length;
  }
}

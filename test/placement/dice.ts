import { type Random, seededRandom } from '../../src/machinery/values/index.ts';

/** Draws of a seeded generator, by the words that a table of distributions uses. */
export class Dice {
  readonly #random: Random;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  real(from: number, to: number): number {
    return from + this.#random() * (to - from);
  }

  /** A whole number, both ends included. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.#random() * (to - from + 1));
  }

  chance(percent: number): boolean {
    return this.#random() * 100 < percent;
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T;
  }

  shuffled<T>(items: readonly T[]): T[] {
    const order = [...items];
    for (let at = order.length - 1; at > 0; at -= 1) {
      const other = this.whole(0, at);
      [order[at], order[other]] = [order[other] as T, order[at] as T];
    }
    return order;
  }
}

/** Choices that a seed decides. */
import { type Random, seededRandom } from '../../../src/machinery/values/index.ts';

export class Dice {
  readonly random: Random;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  /** 0 to `below - 1`. */
  number(below: number): number {
    return Math.floor(this.random() * below);
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError('Cannot pick from an empty list');
    return list[this.number(list.length)] as T;
  }

  chance(probability: number): boolean {
    return this.random() < probability;
  }

  /** One of several, each as likely as its weight. */
  weighed<T>(choices: readonly (readonly [weight: number, choice: T])[]): T {
    let left = this.random() * choices.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, choice] of choices) {
      left -= weight;
      if (left < 0) return choice;
    }
    return (choices.at(-1) as readonly [number, T])[1];
  }
}

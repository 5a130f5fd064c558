/** Inputs made from others: bytes changed, pieces left out, repeated, moved and mixed; JSON by its structure as well. */
import type { Dice } from '../attacks/fuzz/dice.ts';
import { MUTATION_NAMES, MUTATIONS } from '../attacks/fuzz/mutate.ts';
import type { Subject } from './subject.ts';

const MOST_BYTES = 4096;

type Change = (dice: Dice, input: Buffer, others: Others) => Buffer;

export interface Others {
  readonly words: Subject['words'];
  /** Another input of the corpus. */
  readonly another: () => Buffer;
}

const span = (dice: Dice, { length }: Buffer): [number, number] => {
  const from = dice.number(length + 1);
  return [from, Math.min(length, from + 1 + dice.number(dice.pick([2, 8, 64])))];
};
const replace = (input: Buffer, from: number, to: number, by: Buffer): Buffer =>
  Buffer.concat([input.subarray(0, from), by, input.subarray(to)]);

const CHANGES: readonly (readonly [weight: number, change: Change])[] = [
  [3, (dice, input) => replace(input, ...span(dice, input), Buffer.alloc(0))],
  [2, (dice, input) => replaced(dice, input, Buffer.from([dice.number(256)]))],
  [4, (dice, input, { words }) => replaced(dice, input, Buffer.from(dice.pick(words), 'latin1'))],
  [4, (dice, input, { words }) => inserted(dice, input, Buffer.from(dice.pick(words), 'latin1'))],
  [3, (dice, input) => inserted(dice, input, input.subarray(...span(dice, input)))],
  [1, (dice, input) => inserted(dice, input, repeated(dice, input.subarray(...span(dice, input))))],
  [2, (dice, input, { another }) => mixed(dice, input, another())],
  [1, (dice, input) => input.subarray(0, dice.number(input.length + 1))],
  [4, (dice, input) => restructured(dice, input)],
];

export function mutate(dice: Dice, input: Buffer, others: Others): Buffer {
  let result = input;
  for (let left = dice.pick([1, 1, 2, 4, 8]); left > 0; left -= 1) result = dice.weighed(CHANGES)(dice, result, others);
  return result.subarray(0, MOST_BYTES);
}

function replaced(dice: Dice, input: Buffer, by: Buffer): Buffer {
  const [from, to] = span(dice, input);
  return replace(input, from, to, by);
}

function inserted(dice: Dice, input: Buffer, piece: Buffer): Buffer {
  const at = dice.number(input.length + 1);
  return replace(input, at, at, piece);
}

const repeated = (dice: Dice, piece: Buffer): Buffer =>
  Buffer.concat(Array.from({ length: dice.pick([2, 16, 400]) }, () => piece)).subarray(0, MOST_BYTES);

function mixed(dice: Dice, input: Buffer, other: Buffer): Buffer {
  const [from, to] = span(dice, other);
  return dice.chance(0.5)
    ? inserted(dice, input, other.subarray(from, to))
    : Buffer.concat([input.subarray(0, dice.number(input.length + 1)), other.subarray(from)]);
}

function restructured(dice: Dice, input: Buffer): Buffer {
  let value: unknown;
  try {
    value = JSON.parse(input.toString('utf8'));
  } catch {
    return input;
  }
  if (typeof value !== 'object' || value === null) return input;
  const change = MUTATIONS[dice.pick(MUTATION_NAMES)];
  return Buffer.from(JSON.stringify(change?.(dice, value as never) ?? value) ?? 'null');
}

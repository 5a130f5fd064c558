/** Tries inputs made from a corpus; what shows something new joins the corpus. */
import type { Dice } from '../attacks/fuzz/dice.ts';
import { mutate } from './mutate.ts';
import type { Subject } from './subject.ts';

/** By name, which says what the input shows. */
export type Corpus = Map<string, Buffer>;

export interface Finding {
  readonly subject: string;
  readonly input: Buffer;
  readonly error: unknown;
}

export interface Explored {
  readonly tried: number;
  readonly kept: number;
  readonly findings: readonly Finding[];
  /** The longest that one input took, and which it was. */
  readonly slowest: { readonly ms: number; readonly input: Buffer };
}

/** Of one subject, found in one run: a corpus that is read by people stays small. */
const MOST_KEPT = 60;
const MOST_FINDINGS = 20;

/** A corpus with what each of its inputs shows. */
export class Explorer {
  readonly #subject: Subject;
  readonly #corpus: Corpus;
  readonly #shown = new Map<string, string>();
  readonly #findings: Finding[] = [];
  #tried = 0;
  #kept = 0;
  #slowest = { ms: 0, input: Buffer.alloc(0) };

  constructor(subject: Subject, corpus: Corpus) {
    this.#subject = subject;
    this.#corpus = corpus;
  }

  get explored(): Explored {
    return { tried: this.#tried, kept: this.#kept, findings: this.#findings, slowest: this.#slowest };
  }

  /** Everything that was kept, as it is. */
  async replay(): Promise<void> {
    for (const [name, input] of this.#corpus) {
      const outcome = await this.#attempt(input);
      if (outcome !== undefined && !this.#shown.has(outcome)) this.#shown.set(outcome, name);
    }
  }

  /** One input more. */
  async explore(dice: Dice): Promise<void> {
    const inputs = [...this.#corpus.values()];
    const another = (): Buffer => dice.pick(inputs);
    const input = mutate(dice, another(), { words: this.#subject.words, another });
    const outcome = await this.#attempt(input);
    if (outcome === undefined) return;
    const known = this.#shown.get(outcome);
    const isShorter =
      known !== undefined && isMadeUp(known) && input.length * 2 < (this.#corpus.get(known)?.length ?? 0);
    if (known !== undefined && !isShorter) return;
    if (known === undefined && this.#kept >= MOST_KEPT) return;
    const name = known ?? nameOf(outcome, this.#corpus);
    if (known === undefined) this.#kept += 1;
    this.#corpus.set(name, Buffer.from(input));
    this.#shown.set(outcome, name);
  }

  async #attempt(input: Buffer): Promise<string | undefined> {
    this.#tried += 1;
    const begun = performance.now();
    try {
      const outcome = this.#subject.attempt(input);
      return typeof outcome === 'string' ? outcome : await outcome;
    } catch (error) {
      if (this.#findings.length < MOST_FINDINGS) {
        this.#findings.push({ subject: this.#subject.name, input: Buffer.from(input), error });
      }
      return undefined;
    } finally {
      const ms = performance.now() - begun;
      if (ms > this.#slowest.ms) this.#slowest = { ms, input: Buffer.from(input) };
    }
  }
}

/** Names that the explorer gave; others were given by people, and their inputs stay. */
const isMadeUp = (name: string): boolean => /^(read|refused|evaluates to|answered|no JSON)/.test(name);

function nameOf(outcome: string, corpus: Corpus): string {
  let name = outcome;
  for (let other = 2; corpus.has(name); other += 1) name = `${outcome} (${other})`;
  return name;
}

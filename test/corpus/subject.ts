/** Something that reads what strangers send, and what must hold whatever that is. */

export interface Subject {
  readonly name: string;
  /** Inputs are bytes that are no text: the corpus keeps them in base64. */
  readonly isBinary?: boolean;
  /** How often it is tried beside the others: those that are slow, seldom. */
  readonly weight: number;
  /** Pieces that mean something to it. */
  readonly words: readonly string[];
  /**
   * Reads the input and tells in few words what came of it: the same words for inputs that are alike. Throws where a rule
   * is broken.
   */
  attempt(input: Buffer): string | Promise<string>;
  stop?(): Promise<void>;
}

/** A rule that does not hold. */
export class Broken extends Error {
  override name = 'Broken';
}

type Errors = readonly (abstract new (...given: never[]) => Error)[];

/** Runs it; the errors that it may throw are an outcome, all others a finding. */
export function refusalOr(errors: Errors, input: Buffer, run: () => string): string {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error && errors.some((one) => error instanceof one)) return refused(error.message, input);
    throw error;
  }
}

const MOST_WORDS = 6;

/** What of a refusal does not come from the very input. */
export function refused(message: string, input: Buffer): string {
  const given = input.toString('latin1').toLowerCase();
  const words = (message.split('\n', 1)[0] ?? '').split(/[^A-Za-z]+/);
  const own = words.filter((word) => word.length > 3 && !given.includes(word.toLowerCase()));
  return `refused: ${own.slice(0, MOST_WORDS).join(' ')}`;
}

/** Nothing is lost when it is stored. That JSON.stringify() makes 0 of -0 is known. */
export function expectJson(value: unknown): void {
  if (value === undefined || typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value)))
    throw new Broken(`no JSON: it holds ${String(value)}`);
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(expectJson);
}

/** How an accepted value looks from far away. */
export function shapeOf(value: unknown): string {
  const seen = { depth: 0, values: 0 };
  measure(value, 1, seen);
  const type = Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value;
  return `read: ${type}, depth ${upTo(seen.depth)}, values ${upTo(seen.values)}`;
}

function measure(value: unknown, depth: number, seen: { depth: number; values: number }): void {
  seen.values += 1;
  if (depth > seen.depth) seen.depth = depth;
  if (typeof value !== 'object' || value === null) return;
  for (const member of Object.values(value)) measure(member, depth + 1, seen);
}

/** The next power of two. */
const upTo = (count: number): number => 2 ** Math.ceil(Math.log2(Math.max(1, count)));

import { CannotTellError } from '../app/index.ts';
import { CANNOT_TELL } from './exit-codes.ts';

/** Says on the terminal why a command ended, and gives its exit code. */
export function failWith(command: string, error: unknown, code = 1): number {
  process.stderr.write(`quorate ${command}: ${error instanceof Error ? error.message : String(error)}\n`);
  return error instanceof CannotTellError ? CANNOT_TELL : code;
}

import { fit } from './terminal.ts';

/** Says what is wrong beside the output: folded for a person at a terminal, a line for each statement otherwise. */
export function complain(text: string): void {
  process.stderr.write(`${fit(text.split('\n'), process.stderr).join('\n')}\n`);
}

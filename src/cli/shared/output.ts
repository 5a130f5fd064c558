import { stringify } from 'yaml';
import { fit, type Stream } from './terminal.ts';

export type OutputFormat = 'text' | 'json' | 'yaml';

export const OUTPUT_FORMATS: readonly OutputFormat[] = ['text', 'json', 'yaml'];

/** A value the way the person asked for it; lines of text are the default, folded where a terminal shows them. */
export function formatOutput(
  value: unknown,
  lines: readonly string[],
  format: OutputFormat,
  stream: Stream = process.stdout,
): string {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  return format === 'yaml' ? stringify(value) : `${fit(lines, stream).join('\n')}\n`;
}

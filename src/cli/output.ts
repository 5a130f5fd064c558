import { stringify } from 'yaml';

export type OutputFormat = 'text' | 'json' | 'yaml';

export const OUTPUT_FORMATS: readonly OutputFormat[] = ['text', 'json', 'yaml'];

/** A value the way the person asked for it; lines of text are the default. */
export function formatOutput(value: unknown, lines: readonly string[], format: OutputFormat): string {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  return format === 'yaml' ? stringify(value) : `${lines.join('\n')}\n`;
}

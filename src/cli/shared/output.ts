import { stringify } from 'yaml';
import { compileJsonPathTemplate } from '../../machinery/values/index.ts';
import { fit, type Stream } from './terminal.ts';

type JsonPathFormat = `jsonpath=${string}`;

export type OutputFormat = 'text' | 'wide' | 'name' | 'json' | 'yaml' | JsonPathFormat;

export const OUTPUT_FORMATS: readonly OutputFormat[] = ['text', 'json', 'yaml'];

/** For commands that list objects, as kubectl get does. */
export const LIST_FORMATS: readonly OutputFormat[] = ['text', 'wide', 'name', 'json', 'yaml'];

const JSON_PATH = 'jsonpath=';

/** Whether this is `jsonpath=TEMPLATE`; throws where the template cannot be read. */
export function isJsonPath(format: string): format is JsonPathFormat {
  if (!format.startsWith(JSON_PATH)) return false;
  compileJsonPathTemplate(format.slice(JSON_PATH.length));
  return true;
}

/** What a command that lists objects has to show besides lines of text. */
export interface Listing {
  readonly text: readonly string[];
  /** Cells in columns, as they are: never folded. */
  readonly wide: readonly string[];
  /** `poddisruptionbudget.policy/web`, as kubectl takes it. */
  readonly names: readonly string[];
}

/** A value the way the person asked for it; lines of text are the default, folded where a terminal shows them. */
export function formatOutput(
  value: unknown,
  shown: readonly string[] | Listing,
  format: OutputFormat,
  stream: Stream = process.stdout,
): string {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  if (format === 'yaml') return stringify(value);
  if (isJsonPath(format)) return compileJsonPathTemplate(format.slice(JSON_PATH.length))(value);
  const listing = 'text' in shown ? shown : { text: shown, wide: shown, names: shown };
  if (format === 'text') return `${fit(listing.text, stream).join('\n')}\n`;
  return (format === 'wide' ? listing.wide : listing.names).map((line) => `${line}\n`).join('');
}

/** Documents that people hand us as files. */
import { readFileSync } from 'node:fs';
import { type Document, LineCounter, parseDocument } from 'yaml';

/** The file cannot be read or is not what it should be; the message is one line that names it. */
export class DocumentError extends Error {
  override name = 'DocumentError';
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'no permission to read it',
  EISDIR: 'it is a folder',
};

/** A JSON or YAML file as a map. What is wrong in it is told with line and column. */
function readDocument(file: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new DocumentError(`Cannot read ${file}: ${REASONS[code] ?? message}`, { cause: error });
  }
  const value = parseJson(text) ?? parseYaml(file, text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DocumentError(`Cannot read ${file}: it holds no object`);
  }
  return value as Record<string, unknown>;
}

/** Our own files are JSON and may be large; undefined when this is none. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function parseYaml(file: string, text: string): unknown {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const [error] = document.errors;
  if (error === undefined) return plainValue(file, document);
  const { col, line } = lines.linePos(error.pos[0]);
  throw new DocumentError(`${file}:${line}:${col}: ${error.message.replaceAll(/\s+/g, ' ').trim()}`);
}

/**
 * Aliases are looked up only now: some name nothing, some what they are a part of, and some would make gigabytes of a small
 * file.
 */
function plainValue(file: string, document: Document): unknown {
  try {
    const value = document.toJS({ maxAliasCount: 100 }) as unknown;
    // Throws where a value holds itself.
    JSON.stringify(value);
    return value;
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n', 1);
    throw new DocumentError(`Cannot read ${file}: ${reason}`, { cause: error });
  }
}

/** A file of the wanted format, not of a later version than this program knows. Its parts are for the caller to check. */
export function readFormat<T extends object>(
  file: string,
  { format, version, what }: { format: string; version: number; what: string },
): Partial<T> {
  const document = readDocument(file);
  if (document['format'] !== format) throw new DocumentError(`Cannot use ${file}: it is not ${what}`);
  const found = document['version'];
  if (typeof found === 'number' && found > version) {
    throw new DocumentError(
      `Cannot use ${file}: it has version ${found} of the format, this quorate knows up to ${version}; use a newer quorate`,
    );
  }
  if (found !== version) throw new DocumentError(`Cannot use ${file}: its format version is missing or unknown`);
  return document as Partial<T>;
}

/** The corpora in the folder `kept`: one file for each subject, from the name of an input to the input. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Corpus } from './explore.ts';
import type { Subject } from './subject.ts';

const fileOf = ({ name }: Subject): string => join(import.meta.dirname, 'kept', `${name}.json`);
/** Text that is no UTF-8 would not come back: its bytes are kept, one character each. */
const BYTES = 'bytes:';

export function readCorpus(subject: Subject): Corpus {
  const file = fileOf(subject);
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>) : {};
  return new Map(Object.entries(kept).map(([name, text]) => [name, decode(subject, text)]));
}

export function writeCorpus(subject: Subject, corpus: Corpus): void {
  const entries = [...corpus].sort(([one], [other]) => (one < other ? -1 : 1));
  const kept = Object.fromEntries(entries.map(([name, input]) => [name, encode(subject, input)]));
  writeFileSync(fileOf(subject), `${JSON.stringify(kept, undefined, 2)}\n`);
}

function decode({ isBinary = false }: Subject, text: string): Buffer {
  if (isBinary) return Buffer.from(text, 'base64');
  return text.startsWith(BYTES) ? Buffer.from(text.slice(BYTES.length), 'latin1') : Buffer.from(text);
}

function encode({ isBinary = false }: Subject, input: Buffer): string {
  if (isBinary) return input.toString('base64');
  const text = input.toString('utf8');
  return Buffer.from(text).equals(input) && !text.startsWith(BYTES) ? text : BYTES + input.toString('latin1');
}

import type { Command } from 'commander';
import { namesFor } from './names.ts';
import { wantedNext } from './wanted.ts';

const NO_FILES = 4;
const FILES = 0;

export async function runComplete(program: Command, typed: readonly string[]): Promise<void> {
  const last = typed.at(-1) ?? '';
  const { flags, source, words } = wantedNext(program, typed.slice(0, -1), last);
  // Behind `--namespace=` the names are completed as the rest of that word.
  const before = last.startsWith('-') && last.includes('=') ? last.slice(0, last.indexOf('=') + 1) : '';
  const names = source === undefined ? [] : await namesFor(source, flags, last);
  const candidates = [...words, ...names.map((name) => [`${before}${name}`, ''] as const)].filter(([word]) =>
    word.startsWith(last),
  );
  const lines = candidates.map(([word, help]) => (help === '' ? word : `${word}\t${help}`));
  process.stdout.write(`${[...lines, `:${source === 'files' ? FILES : NO_FILES}`].join('\n')}\n`);
}

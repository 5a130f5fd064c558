/** What pages tell a reader to type, and what they promise. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Step {
  /** A line as it is typed, without the page's remark on how it ends. */
  readonly command: string;
  /** `fails`, or nothing. */
  readonly note: string;
}

export interface Block {
  readonly page: string;
  readonly steps: readonly Step[];
  /** Lines that the page shows under the commands; `…` stands for anything. */
  readonly shown: readonly string[];
}

/** Also those that are not run elsewhere: here is a terminal, and the package as it is packed. */
export function blocksOf(folder: string, page: string): Block[] {
  const text = readFileSync(join(folder, page), 'utf8');
  return [...text.matchAll(/^```sh[^\n]*\n([^]*?)^```(?:\n+```text\n([^]*?)^```)?/gm)].map(
    ([, commands = '', shown = '']) => ({
      page,
      steps: commands
        .replaceAll(/\\\n\s*/g, '')
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map(stepOf),
      shown: shown.split('\n').filter((line) => line.trim() !== ''),
    }),
  );
}

function stepOf(line: string): Step {
  const [command = '', note = ''] = line.split(/\s+# /);
  return { command, note };
}

/** Blanks count for nothing: columns are as wide as what stands in them, and long lines are folded. */
export function promised(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/\s+/g, '\\s+'));
  return new RegExp(parts.join('[^]*?'));
}

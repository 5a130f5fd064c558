/** What went as the pages say and what did not, with the screens. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COLUMNS, type Typed } from './terminal.ts';

export class Report {
  readonly #folder: string | undefined;
  readonly #problems: string[] = [];
  /** What was looked at last. */
  last = '';
  #screens = 0;
  #checks = 0;

  constructor(folder: string | undefined) {
    this.#folder = folder;
    if (folder !== undefined) mkdirSync(folder, { recursive: true });
  }

  /** A command that was typed. What is ours also has to fit the terminal; a single word cannot be folded. */
  told(what: string, { command, lines }: Typed, problem?: string): void {
    this.#keep(command, lines);
    const wide = /\bquorate\b/.test(command)
      ? lines.find((line) => line.length > COLUMNS && line.trim().includes(' '))
      : undefined;
    const found = problem ?? (wide === undefined ? undefined : `a line of ${wide.length} columns: ${wide}`);
    this.#check(what, found, lines);
  }

  says(what: string, lines: readonly string[], patterns: readonly RegExp[]): void {
    const missing = patterns.find((pattern) => !pattern.test(lines.join('\n')));
    this.#check(what, missing === undefined ? undefined : `${missing} is not there`, lines);
  }

  /** Says how it went, and gives the exit code. */
  end(): number {
    process.stdout.write(`${this.#checks} looked at, ${this.#problems.length} wrong\n`);
    for (const problem of this.#problems) process.stdout.write(`WRONG ${problem}\n`);
    return this.#problems.length > 0 ? 1 : 0;
  }

  #check(what: string, problem: string | undefined, lines: readonly string[]): void {
    this.#checks += 1;
    this.last = what;
    if (problem === undefined) process.stdout.write(`ok ${what}\n`);
    else {
      this.#problems.push(`${what}: ${problem}`);
      process.stdout.write(`WRONG ${what}: ${problem}\n${lines.map((line) => `  | ${line}\n`).join('')}`);
    }
  }

  #keep(command: string, lines: readonly string[]): void {
    if (this.#folder === undefined) return;
    this.#screens += 1;
    const name = command.replaceAll(/[^\w.-]+/g, '-').slice(0, 60);
    const number = String(this.#screens).padStart(3, '0');
    writeFileSync(join(this.#folder, `${number}-${name}.txt`), `$ ${command}\n${lines.join('\n')}\n`);
  }
}

import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from './program.ts';
import { readArguments } from './shared/flags.ts';

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 80 });
  command.configureHelp({ ...command.configureHelp(), helpWidth: 80 });
  command.outputHelp();
  return text;
}

const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;

for (const command of all(createProgram())) {
  test(`the help of "${nameOf(command)}" fits a terminal of 80 columns and says what it does`, () => {
    const lines = helpOf(command).split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    expect(command.description()).not.toBe('');
    for (const option of command.options) expect(option.description, option.flags).not.toBe('');
    const text = lines.join('\n');
    for (const title of ['Examples:', 'Exit codes:'])
      expect(text.split(`\n${title}`).length, title).toBeLessThanOrEqual(2);
    // A default is shown as it would be typed: 1m, and not 60000 or an object.
    expect(text).not.toMatch(/default: (\{|\[|\d{4,5}000\))/);
  });
}

test('every --dry-run takes a mode: without one it is read as =client', () => {
  const words = readArguments(['quorate', 'migrate', 'groups', '--dry-run', '--', '--dry-run']);
  expect(words).toEqual(['quorate', 'migrate', 'groups', '--dry-run=client', '--', '--dry-run']);
  const options = all(createProgram()).flatMap(({ options: own }) => own);
  const dry = options.filter(({ long }) => long === '--dry-run');
  expect(dry.length).toBeGreaterThan(3);
  expect(dry.filter(({ optional }) => !optional)).toEqual([]);
});

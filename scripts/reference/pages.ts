import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program.ts';
import { RULES } from '../../src/decisions/lint/index.ts';
import { ANNOTATIONS } from './annotations.ts';
import { renderKinds } from './kinds.ts';
import { renderMetrics } from './metrics.ts';
import { renderTestkit } from './testkit.ts';

/** The pages of docs/reference, by file name; each is written from the sources and never by hand. */
export function referencePages(): ReadonlyMap<string, string> {
  const note = '<!-- Written by `npm run docs:reference`; change the sources and run it again. -->\n\n';
  return new Map(
    [
      ['kinds.md', renderKinds()],
      ['annotations.md', renderAnnotations()],
      ['commands.md', renderCommands()],
      ['lint-rules.md', renderRules()],
      ['metrics.md', renderMetrics()],
      ['testkit.md', renderTestkit()],
    ].map(([name = '', text = '']) => [name, note + text]),
  );
}

function renderAnnotations(): string {
  const rows = ANNOTATIONS.map(({ effect, key, on, values }) => `| \`${key}\` | ${on} | ${values} | ${effect} |`);
  const head = ['# Annotations and labels', '', '| key | on | values | effect |', '|---|---|---|---|'];
  return `${[...head, ...rows].join('\n')}\n`;
}

function renderCommands(): string {
  const lines = [
    '# Commands',
    '',
    'What `--help` prints, for every command. Installed as `kubectl-quorate` too, so `kubectl quorate why …` works.',
  ];
  for (const command of walk(createProgram())) {
    lines.push('', `## ${fullName(command)}`, '', '```text', helpOf(command).trimEnd(), '```');
  }
  return `${lines.join('\n')}\n`;
}

function renderRules(): string {
  const lines = [
    '# Lint rules',
    '',
    'What `quorate lint` looks for; `quorate lint --explain RULE` says the same in a terminal.',
    '',
    '| rule | severity | what |',
    '|---|---|---|',
    ...RULES.map(({ name, severity, what }) => `| [${name}](#${name}) | ${severity} | ${what} |`),
  ];
  for (const { details, fix, name, severity, what, why } of RULES) {
    lines.push('', `## ${name}`, '', `*${severity}.* ${what}.`, '', `**Why it matters.** ${why}`);
    lines.push('', `**How to fix it.** ${fix}`, '', details);
  }
  return `${lines.join('\n')}\n`;
}

const walk = (command: Command): Command[] => [command, ...command.commands.flatMap(walk)];

function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

/** As on a terminal of 80 columns, whatever this one has. */
export function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHasColors: () => false });
  command.configureHelp({ ...command.configureHelp(), helpWidth: 80 });
  command.outputHelp();
  return text;
}

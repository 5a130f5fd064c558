/** What could be typed next, worked out from the commands themselves. Pure: names that a cluster has are looked up elsewhere. */
import type { Command, Option } from 'commander';

/** Names that only a cluster, a kubeconfig or a file system knows. */
export type Source = 'nodes' | 'namespaces' | 'contexts' | 'podgroups' | 'targets' | 'stories' | 'files';

export interface WantedNext {
  /** Words the command line itself knows, each with what it is for. */
  readonly words: readonly (readonly [word: string, help: string])[];
  readonly source?: Source | undefined;
  /** Flags typed so far, by their long name: which cluster to ask, in which namespace. */
  readonly flags: ReadonlyMap<string, string>;
}

const ARGUMENTS: Readonly<Record<string, Source>> = {
  why: 'targets',
  drain: 'nodes',
  'plan drain': 'nodes',
  'evict group': 'podgroups',
  'node fail': 'nodes',
  'node recover': 'nodes',
  demo: 'stories',
  simulate: 'files',
  lint: 'files',
};
/** These take one argument, and what follows it is none. */
const ONLY_ONE: ReadonlySet<string> = new Set(['why', 'evict group', 'demo', 'simulate']);

const OPTIONS: Readonly<Record<string, Source>> = { '--namespace': 'namespaces', '--context': 'contexts' };

const takesValue = (option: Option): boolean => option.required;

/** `words` are those before the one that is being typed; that one, perhaps empty, is `last`. */
export function wantedNext(program: Command, words: readonly string[], last: string): WantedNext {
  const flags = new Map<string, string>();
  let command = program;
  let given = 0;
  let open: Option | undefined;
  for (const word of words) {
    if (open !== undefined) {
      flags.set(open.long ?? '', word);
      open = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const [name = '', value] = word.split(/=(.*)/s);
      const option = findOption(command, name);
      if (option === undefined || !takesValue(option)) continue;
      if (value === undefined) open = option;
      else flags.set(option.long ?? '', value);
      continue;
    }
    const inner = command.commands.find((one) => one.name() === word);
    if (inner === undefined) given += 1;
    else command = inner;
  }
  if (open !== undefined) return { ...valuesOf(open), flags };
  const [name = '', value] = last.split(/=(.*)/s);
  const assigned = value === undefined ? undefined : findOption(command, name);
  if (assigned !== undefined) {
    const { source, words: values } = valuesOf(assigned);
    return { words: values.map(([word, help]) => [`${name}=${word}`, help] as const), source, flags };
  }
  if (last.startsWith('-')) return { words: optionsOf(command), flags };
  const inner = command.commands.filter((one) => !isHidden(one));
  if (inner.length > 0) return { words: inner.map((one) => [one.name(), firstSentence(one.description())]), flags };
  const path = pathOf(command);
  if (given > 0 && ONLY_ONE.has(path)) return { words: [], flags };
  const choices = given === 0 ? (command.registeredArguments[0]?.argChoices ?? []) : [];
  return { words: choices.map((word) => [word, ''] as const), source: ARGUMENTS[path], flags };
}

function valuesOf(option: Option): Pick<WantedNext, 'words' | 'source'> {
  const isPath = /<(file|directory)/.test(option.flags);
  return {
    words: (option.argChoices ?? []).map((word) => [word, ''] as const),
    source: OPTIONS[option.long ?? ''] ?? (isPath ? 'files' : undefined),
  };
}

function optionsOf(command: Command): [string, string][] {
  const own = command.options.filter(({ hidden }) => !hidden);
  return [...own.map((one): [string, string] => [one.long ?? '', firstSentence(one.description)]), ['--help', 'help']];
}

function findOption(command: Command, name: string): Option | undefined {
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const found = at.options.find(({ long, short }) => long === name || short === name);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isHidden = (command: Command): boolean => command.name().startsWith('__');
const firstSentence = (text: string): string => text.split(/[:;(]/)[0]?.trim() ?? '';

function pathOf(command: Command): string {
  return command.parent === null || command.parent.parent === null
    ? command.name()
    : `${pathOf(command.parent)} ${command.name()}`;
}

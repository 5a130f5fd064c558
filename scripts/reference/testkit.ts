/** The page about `quorate/testkit`, read from its own declarations and the comments above them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', 'src', 'testkit');

/** Sections of the page and the files whose declarations they hold. */
const SECTIONS: readonly (readonly [title: string, files: readonly string[]])[] = [
  ['The control plane', ['control-plane.ts']],
  ['Objects', ['objects.ts', 'groups.ts']],
  ['Putting them into the plane', ['apply.ts']],
  ['What to expect', ['evictions.ts']],
  ['Making it fail', ['faults.ts']],
  ['Kinds', ['types.ts']],
];

/** Names the door gives on that are declared elsewhere. */
const ELSEWHERE = [
  [
    '`Client`',
    'typed access to the API: `get`, `list`, `watch`, `create`, `update`, `updateStatus`, `patch`, `delete`',
  ],
  ['`ApiError`', 'what every failed request throws: `code`, `reason`, `message`, `causes`'],
  [
    '`isNotFound`, `isConflict`, `isInvalid`, `isForbidden`, `isAlreadyExists`, `isTooManyRequests`',
    'which error it is',
  ],
  ['`ManualClock`', 'stands still until `advance(ms)`; `set(ms)` sets it without time passing'],
  ['`systemClock`', 'the time of the machine'],
] as const;

export function renderTestkit(): string {
  const door = readFileSync(join(FOLDER, 'index.ts'), 'utf8');
  const lines = [
    '# The testkit',
    '',
    'What `quorate/testkit` exports. How to use it: [the guide](../guide/testkit.md).',
  ];
  for (const [title, files] of SECTIONS) {
    lines.push('', `## ${title}`);
    for (const file of files) {
      const all = door.includes(`export * from './${file}'`);
      for (const { comment, declared, name } of declarations(readFileSync(join(FOLDER, file), 'utf8'))) {
        if (!all && !new RegExp(`\\b${name}\\b`).test(door)) continue;
        lines.push('', '```ts', declared, '```');
        if (comment !== '') lines.push('', comment);
      }
    }
  }
  lines.push('', 'And every kind that `quorate/api` names, such as `podType`, `deploymentType`, `jobType`.');
  lines.push('', '## Also', '', '| | |', '|---|---|', ...ELSEWHERE.map(([name, what]) => `| ${name} | ${what} |`));
  return `${lines.join('\n')}\n`;
}

interface Declaration {
  readonly name: string;
  readonly declared: string;
  readonly comment: string;
}

/** A file's exports in order: the head of a function or class, the whole of an interface or type. */
function declarations(text: string): Declaration[] {
  const found: Declaration[] = [];
  const lines = text.split('\n');
  let comment: string[] = [];
  let inComment = false;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (line.startsWith('/**')) [comment, inComment] = [[], true];
    if (inComment) {
      comment.push(
        line
          .replace(/^\/\*\*|^ \* ?/, '')
          .replace(/\*\/$/, '')
          .trim(),
      );
      inComment = !line.endsWith('*/');
      continue;
    }
    const [, form = '', name = ''] = /^export (?:async )?(function|interface|type|const|class) (\w+)/.exec(line) ?? [];
    if (name !== '') {
      const end = lines.findIndex((other, index) => index >= at && /^[^ ].*;$|^\}/.test(other));
      const whole = lines
        .slice(at, end + 1)
        .join('\n')
        .replace(/^export (async )?/, '');
      const declared = declarationOf(whole, form);
      if (declared !== undefined) found.push({ name, declared, comment: comment.join(' ').trim() });
    }
    comment = [];
  }
  // Of overloads the first says all.
  return found.filter(({ name }, index) => found.findIndex((other) => other.name === name) === index);
}

function declarationOf(text: string, form: string): string | undefined {
  if (form === 'interface') return text;
  if (form === 'class')
    return text.startsWith('class Injected') ? undefined : (text.split('\n')[0] ?? '').replace(' {', '');
  if (form === 'const') {
    const [, name, type] = /^const (\w+) = .* as ([^;]+);$/.exec(text.replaceAll('\n', ' ')) ?? [];
    return name === undefined ? undefined : `const ${name}: ${type}`;
  }
  if (form === 'type') return text.replace(/;$/, '');
  return signatureOf(text);
}

/** The head of a function: up to the brace that opens its body, which stands at depth zero of brackets. */
function signatureOf(text: string): string {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (char === '{' && depth === 0 && text.slice(0, at).includes(')')) return text.slice(0, at).trimEnd();
    if ('({[<'.includes(char)) depth += 1;
    else if (')}]'.includes(char) || (char === '>' && text[at - 1] !== '=')) depth -= 1;
  }
  return text.replace(/;$/, '');
}

import { nameOf, type LintRule, RULES, type Severity, LINT_DISABLE } from '../../decisions/lint/index.ts';
import type { LintSummary, PlacedFinding } from './report.ts';
import { count, type Paint, plain, type Style, WIDTH, wrap } from '../shared/terminal.ts';

const STYLES: Readonly<Record<Severity, Style>> = { error: 'red', warning: 'yellow', info: 'cyan' };

/** The findings for a person: where, what, why it matters and how to mend it. */
export function formatLint(summary: LintSummary, paint: Paint = plain): string {
  const lines = summary.findings.flatMap((one) => [...formatFinding(one, paint), '']);
  return `${[...lines, formatSummary(summary, paint)].join('\n')}\n`;
}

function formatFinding({ finding, place }: PlacedFinding, paint: Paint): string[] {
  const { fix, message, object, path, rule, severity, why } = finding;
  const where = place === undefined ? nameOf(object) : `${place.file}:${place.line}:${place.column}`;
  const what = place === undefined ? path : [nameOf(object), path].filter((part) => part !== '').join(', ');
  const told = `${paint(STYLES[severity], severity)}  ${rule}`;
  const fits = where.length + severity.length + rule.length + 4 <= WIDTH;
  return [
    ...(fits ? [`${paint('bold', where)}  ${told}`] : [...wrap(where).map((line) => paint('bold', line)), `  ${told}`]),
    ...wrap(what, { indent: '  ' }).map((line) => paint('dim', line)),
    ...wrap(sentence(message), { indent: '  ' }),
    ...wrap(`Why: ${why}`, { indent: '  ' }),
    ...wrap(`Fix: ${fix}`, { indent: '  ' }),
  ];
}

function formatSummary({ findings, objects, silenced, source }: LintSummary, paint: Paint): string {
  const quiet = silenced > 0 ? `; ${silenced} silenced by annotation` : '';
  const looked = `${count(objects, 'object')} in ${source}${quiet}`;
  if (findings.length === 0) return `${paint('green', 'Nothing found')}: ${looked}.`;
  const parts = (['error', 'warning', 'info'] as const).flatMap((severity) => {
    const amount = findings.filter(({ finding }) => finding.severity === severity).length;
    if (amount === 0) return [];
    return [paint(STYLES[severity], severity === 'info' ? `${amount} info` : count(amount, severity))];
  });
  return `${parts.join(', ')}: ${looked}.`;
}

/** `--rules`: every rule in one line of the table. */
export function formatRules(paint: Paint = plain): string {
  const width = Math.max(...RULES.map(({ name }) => name.length));
  const lines = RULES.flatMap(({ name, severity, what }) => {
    const head = `${name.padEnd(width)}  ${severity.padEnd(7)}  `;
    const [first = '', ...rest] = wrap(what, { indent: ' '.repeat(head.length) });
    return [`${name.padEnd(width)}  ${paint(STYLES[severity], severity.padEnd(7))}  ${first.trimStart()}`, ...rest];
  });
  return `${[...lines, '', 'quorate lint --explain RULE says more about one.'].join('\n')}\n`;
}

export function formatRule({ details, fix, name, severity, what, why }: LintRule, paint: Paint = plain): string {
  const lines = [
    `${paint('bold', name)}  ${paint(STYLES[severity], severity)}`,
    '',
    ...wrap(`${what}.`),
    '',
    ...wrap(`Why it matters: ${why}`),
    '',
    ...wrap(`How to fix it: ${fix}`),
    '',
    ...wrap(details),
    '',
    ...wrap(`To leave it out: --disable ${name}, or on the object the annotation ${LINT_DISABLE}: ${name}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** The names of fields keep their spelling, also at the start. */
function sentence(text: string): string {
  const start = /^[a-z]+\b/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return start.endsWith('.') ? start : `${start}.`;
}

import { RULES } from './catalogue.ts';
import { gatherLintFacts, type LintInput } from './facts.ts';
import { type Finding, SEVERITIES } from './finding.ts';

/** On any object: names of rules, separated by commas, that shall not be reported for it. */
export const LINT_DISABLE = 'lint.quorate.dev/disable';

export interface LintOptions {
  /** Rules that are not run. */
  readonly disabled?: ReadonlySet<string>;
}

export interface LintReport {
  readonly findings: readonly Finding[];
  /** Findings that an annotation asked to keep quiet. */
  readonly silenced: number;
}

/** Runs every rule. Findings come in the order of the objects, the gravest of an object first. */
export function lint(input: LintInput, { disabled = new Set() }: LintOptions = {}): LintReport {
  const facts = gatherLintFacts(input);
  const position = new Map(input.objects.map((object, at) => [object, at]));
  const findings: Finding[] = [];
  let silenced = 0;
  for (const rule of RULES) {
    if (disabled.has(rule.name)) continue;
    for (const problem of rule.check(facts)) {
      if (isSilenced(problem.object.metadata.annotations, rule.name)) silenced += 1;
      else findings.push({ severity: rule.severity, fix: rule.fix, ...problem, rule: rule.name, why: rule.why });
    }
  }
  const last = input.objects.length;
  const at = ({ object }: Finding): number => position.get(object) ?? last;
  const gravity = ({ severity }: Finding): number => -SEVERITIES.indexOf(severity);
  findings.sort((a, b) => at(a) - at(b) || gravity(a) - gravity(b));
  return { findings, silenced };
}

function isSilenced(annotations: Readonly<Record<string, string>> | undefined, rule: string): boolean {
  const text = annotations?.[LINT_DISABLE];
  return typeof text === 'string' && text.split(',').some((name) => name.trim() === rule);
}

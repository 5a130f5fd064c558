import { FieldPath } from './field-path.ts';
import { forbidden, type Issue, invalid, required } from './issue.ts';
import { checkLabelValue, checkQualifiedName, validateName } from './names.ts';

export type Labels = Readonly<Record<string, string>>;

export type SelectorOperator = 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'GreaterThan' | 'LessThan';

export interface Requirement {
  readonly key: string;
  readonly operator: SelectorOperator;
  readonly values: readonly string[];
}

/** All requirements must hold; an empty list selects everything. `matchesNothing` is the nil selector. */
export interface Selector {
  readonly requirements: readonly Requirement[];
  readonly matchesNothing?: true;
}

export const everything: Selector = { requirements: [] };
export const nothing: Selector = { requirements: [], matchesNothing: true };

/** The `LabelSelector` of API objects. */
export interface LabelSelectorShape {
  readonly matchLabels?: Record<string, string> | undefined;
  readonly matchExpressions?:
    | readonly {
        readonly key: string;
        readonly operator: string;
        readonly values?: readonly string[] | undefined;
      }[]
    | undefined;
}

export class SelectorSyntaxError extends Error {
  override name = 'SelectorSyntaxError';
}

export function matches(selector: Selector, labels: Labels | undefined): boolean {
  if (selector.matchesNothing) return false;
  for (const requirement of selector.requirements) if (!holds(requirement, labels ?? {})) return false;
  return true;
}

function holds({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'GreaterThan':
    case 'LessThan': {
      const left = parseInteger(value);
      const right = parseInteger(values[0]);
      if (left === undefined || right === undefined) return false;
      return operator === 'GreaterThan' ? left > right : left < right;
    }
  }
}

function parseInteger(text: string | undefined): number | undefined {
  return text !== undefined && /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
}

/** Turns an object's selector into one that can be asked; null or absent selects nothing, `{}` everything. */
export function fromLabelSelector(shape: LabelSelectorShape | null | undefined): Selector {
  if (shape === undefined || shape === null) return nothing;
  const requirements: Requirement[] = [];
  for (const [key, value] of Object.entries(shape.matchLabels ?? {})) {
    requirements.push({ key, operator: 'In', values: [value] });
  }
  for (const { key, operator, values } of shape.matchExpressions ?? []) {
    if (operator !== 'In' && operator !== 'NotIn' && operator !== 'Exists' && operator !== 'DoesNotExist') {
      throw new SelectorSyntaxError(`${JSON.stringify(operator)} is not a valid label selector operator`);
    }
    if (checkQualifiedName(key).length > 0) throw new SelectorSyntaxError(`invalid label key ${JSON.stringify(key)}`);
    requirements.push({ key, operator, values: values ?? [] });
  }
  return { requirements };
}

/** A selector of exact pairs, as ReplicationController and Service spell theirs. */
export function fromLabels(labels: Labels): Selector {
  return { requirements: Object.entries(labels).map(([key, value]) => ({ key, operator: 'In', values: [value] })) };
}

export interface LabelSelectorRules {
  /** Update rule V10: values already invalid in storage may stay. */
  readonly allowInvalidValues?: boolean;
}

export function validateLabelSelector(
  path: FieldPath,
  shape: LabelSelectorShape | null | undefined,
  { allowInvalidValues = false }: LabelSelectorRules = {},
): Issue[] {
  if (shape === undefined || shape === null) return [];
  const issues: Issue[] = [];
  const labelsPath = path.child('matchLabels');
  for (const [key, value] of Object.entries(shape.matchLabels ?? {})) {
    issues.push(...validateName(labelsPath, key, checkQualifiedName));
    if (!allowInvalidValues) issues.push(...validateName(labelsPath, String(value), checkLabelValue));
  }
  for (const [position, { key, operator, values }] of (shape.matchExpressions ?? []).entries()) {
    const at = path.child('matchExpressions').index(position);
    const count = values?.length ?? 0;
    if (operator === 'In' || operator === 'NotIn') {
      if (count === 0) {
        issues.push(required(at.child('values'), "must be specified when `operator` is 'In' or 'NotIn'"));
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (count > 0) {
        issues.push(
          forbidden(at.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
        );
      }
    } else {
      issues.push(invalid(at.child('operator'), operator ?? '', 'not a valid selector operator'));
    }
    issues.push(...validateName(at.child('key'), key ?? '', checkQualifiedName));
    if (!allowInvalidValues) {
      for (const [index, value] of (values ?? []).entries()) {
        issues.push(...validateName(at.child('values').index(index), String(value), checkLabelValue));
      }
    }
  }
  return issues;
}

const QUERY_TOKEN = /\s*(?:(!=|==|=|!|>|<|\(|\)|,)|([^\s!=,()<>]+))\s*/y;

/** Parses the query form, `a=b,c in (d,e),!f`. Throws SelectorSyntaxError. */
export function parseSelector(text: string): Selector {
  const tokens = tokenize(text);
  const requirements: Requirement[] = [];
  let at = 0;
  const next = (): string | undefined => tokens[at++];
  const fail = (wanted: string): never => {
    const found = tokens[at - 1];
    throw new SelectorSyntaxError(`unable to parse requirement: found '${found ?? ''}', expected: ${wanted}`);
  };
  while (at < tokens.length) {
    let key = next() as string;
    let negated = false;
    if (key === '!') {
      negated = true;
      key = next() ?? fail('identifier');
    }
    const problems = checkQualifiedName(key);
    if (problems.length > 0) {
      throw new SelectorSyntaxError(
        `unable to parse requirement: <nil>: Invalid value: ${JSON.stringify(key)}: ${problems[0]}`,
      );
    }
    const operator = tokens[at];
    if (operator === undefined || operator === ',') {
      requirements.push({ key, operator: negated ? 'DoesNotExist' : 'Exists', values: [] });
    } else if (negated) {
      at += 1;
      fail("','");
    } else {
      at += 1;
      requirements.push(parseComparison(key, operator, next, fail));
    }
    if (at < tokens.length && next() !== ',') fail("','");
    else if (at === tokens.length && tokens[at - 1] === ',') fail('identifier after ","');
  }
  return { requirements };

  function parseComparison(
    name: string,
    operator: string,
    take: () => string | undefined,
    complain: (wanted: string) => never,
  ): Requirement {
    if (operator === 'in' || operator === 'notin') {
      if (take() !== '(') complain("'('");
      const values = new Set<string>();
      for (;;) {
        let value = take();
        if (value === ',' || value === ')') {
          values.add('');
          if (value === ')') break;
          continue;
        }
        if (value === undefined) complain("',', or ')'");
        values.add(value as string);
        value = take();
        if (value === ')') break;
        if (value !== ',') complain("',' or ')'");
        if (tokens[at] === ')') {
          values.add('');
          at += 1;
          break;
        }
      }
      return checkedValues({ key: name, operator: operator === 'in' ? 'In' : 'NotIn', values: [...values] });
    }
    const compare = { '=': 'In', '==': 'In', '!=': 'NotIn', '>': 'GreaterThan', '<': 'LessThan' } as const;
    if (!Object.hasOwn(compare, operator)) complain('in, notin, =, ==, !=, >, <');
    const kind = compare[operator as keyof typeof compare];
    const following = tokens[at];
    const value = following === undefined || following === ',' ? '' : (take() as string);
    if (/^[!=<>()]/.test(value)) complain('identifier');
    if ((kind === 'GreaterThan' || kind === 'LessThan') && parseInteger(value) === undefined) {
      throw new SelectorSyntaxError(`for 'Gt', 'Lt' operators, the value must be an integer`);
    }
    return checkedValues({ key: name, operator: kind, values: [value] });
  }
}

function checkedValues(requirement: Requirement): Requirement {
  for (const value of requirement.values) {
    const problems = checkLabelValue(value);
    if (problems.length > 0) {
      throw new SelectorSyntaxError(
        `unable to parse requirement: values[0][${requirement.key}]: Invalid value: ${JSON.stringify(value)}: ${problems[0]}`,
      );
    }
  }
  return requirement;
}

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  QUERY_TOKEN.lastIndex = 0;
  let position = 0;
  const end = text.trimEnd().length;
  while (position < end) {
    QUERY_TOKEN.lastIndex = position;
    const found = QUERY_TOKEN.exec(text);
    if (found === null) throw new SelectorSyntaxError(`unable to parse selector at position ${position}`);
    tokens.push((found[1] ?? found[2]) as string);
    position = QUERY_TOKEN.lastIndex;
  }
  return tokens;
}

/** The query form of a selector, keys in order: what `status.selector` of a Scale holds. */
export function formatSelector({ requirements }: Selector): string {
  return [...requirements]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ key, operator, values }) => {
      switch (operator) {
        case 'In':
          return values.length === 1 ? `${key}=${values[0]}` : `${key} in (${[...values].sort().join(',')})`;
        case 'NotIn':
          return values.length === 1 ? `${key}!=${values[0]}` : `${key} notin (${[...values].sort().join(',')})`;
        case 'Exists':
          return key;
        case 'DoesNotExist':
          return `!${key}`;
        case 'GreaterThan':
          return `${key}>${values[0]}`;
        case 'LessThan':
          return `${key}<${values[0]}`;
      }
    })
    .join(',');
}

/**
 * `x-kubernetes-validations`: rules in CEL at any node of a schema, over `self` and, for those that mention it, the
 * state before (`oldSelf`); a rule about a change holds on updates only.
 */
import { Optional } from '@marcbachmann/cel-js';
import type { JSONSchemaProps, ValidationRule } from '../../api/generated/apiextensions-v1.ts';
import {
  deepEqual,
  duplicate,
  FieldPath,
  forbidden,
  type Issue,
  type IssueRule,
  invalid,
  isObject,
  required,
} from '../../machinery/values/index.ts';
import { compileCel, type Program } from '../cel/compile.ts';
import { messageText } from '../cel/message.ts';
import { CelBudget, CostExceeded, OUT_OF_BUDGET } from '../cel/meter.ts';
import { celView } from '../cel/values.ts';

/** What a rule may use. */
export const RULE_VARIABLES = ['self', 'oldSelf'];
const REASONS: Readonly<Record<string, IssueRule>> = {
  FieldValueInvalid: 'FieldValueInvalid',
  FieldValueForbidden: 'FieldValueForbidden',
  FieldValueRequired: 'FieldValueRequired',
  FieldValueDuplicate: 'FieldValueDuplicate',
};

interface Rule {
  readonly source: ValidationRule;
  readonly holds: Program;
  readonly message: Program | undefined;
  readonly aboutChange: boolean;
}

interface Node {
  /** As the schema says; empty where it may be several. */
  readonly type: string;
  readonly rules: readonly Rule[];
  readonly properties: ReadonlyMap<string, Node>;
  /** Of list items and of map values. */
  readonly members: Node | undefined;
  /** What tells an item of a keyed list from the others; undefined where items have no identity. */
  readonly keyOf: (item: unknown) => string | undefined;
}

/** With an old state, rules of parts that did not change are not asked again, but rules about the change are. */
export type RuleCheck = (object: unknown, old: unknown) => Issue[];

export function compileRules(schema: JSONSchemaProps | undefined): RuleCheck {
  const root = schema === undefined ? undefined : compileNode(schema);
  if (root === undefined) return () => [];
  return (object, old) => {
    const found: Found = { issues: [], budget: new CelBudget(), toCel: celView() };
    visit(root, FieldPath.root, { self: object, oldSelf: old }, found);
    return found.issues;
  };
}

function compileNode(schema: JSONSchemaProps): Node | undefined {
  const rules = (schema['x-kubernetes-validations'] ?? []).flatMap((source): Rule[] => {
    const compiled = compileCel(source.rule, RULE_VARIABLES);
    if (!compiled.valid) return [];
    const message = source.messageExpression ? compileCel(source.messageExpression, RULE_VARIABLES) : undefined;
    return [
      {
        source,
        holds: compiled.run,
        message: message?.valid ? message.run : undefined,
        aboutChange: /\boldSelf\b/.test(source.rule),
      },
    ];
  });
  const properties = new Map<string, Node>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const node = compileNode(property);
    if (node !== undefined) properties.set(name, node);
  }
  const inner = isObject(schema.items) ? schema.items : schema.additionalProperties;
  const members = isObject(inner) ? compileNode(inner as JSONSchemaProps) : undefined;
  if (rules.length === 0 && properties.size === 0 && members === undefined) return undefined;
  return { type: schema.type ?? '', rules, properties, members, keyOf: keyOf(schema) };
}

function keyOf(schema: JSONSchemaProps): (item: unknown) => string | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map') return () => undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return (item) => (isObject(item) ? JSON.stringify(keys.map((name) => item[name] ?? null)) : undefined);
}

/** A value, and where it is. */
interface Judged {
  readonly path: FieldPath;
  readonly self: unknown;
}

interface Found {
  readonly issues: Issue[];
  /** What is left for the rules of this object. */
  readonly budget: CelBudget;
  /** Each part of the object is brought into the form of CEL once, however many rules see it. */
  readonly toCel: (value: unknown) => unknown;
}

function visit(
  node: Node,
  path: FieldPath,
  { self, oldSelf }: { self: unknown; oldSelf: unknown },
  found: Found,
): void {
  if (self === undefined || self === null) return;
  const unchanged = oldSelf !== undefined && deepEqual(self, oldSelf);
  for (const rule of node.rules) {
    if (rule.aboutChange ? oldSelf === undefined && !rule.source.optionalOldSelf : unchanged) continue;
    // Told once: the rules that follow cannot be asked any more.
    if (found.budget.left < 0) return;
    const problem = evaluate(rule, self, oldSelf, found);
    if (problem !== undefined) found.issues.push(issueOf(rule, node, { path, self }, problem));
  }
  if (Array.isArray(self)) {
    if (node.members === undefined) return;
    const before = new Map(Array.isArray(oldSelf) ? oldSelf.map((item) => [node.keyOf(item), item]) : []);
    for (const [at, item] of self.entries()) {
      const key = node.keyOf(item);
      const known: unknown = key === undefined ? undefined : before.get(key);
      // In a list that did not change at all, the place is identity enough.
      visit(node.members, path.index(at), { self: item, oldSelf: unchanged ? item : known }, found);
    }
    return;
  }
  if (!isObject(self)) return;
  const before = isObject(oldSelf) ? oldSelf : {};
  for (const [name, value] of Object.entries(self)) {
    const child = node.properties.get(name);
    const states = { self: value, oldSelf: before[name] };
    if (child !== undefined) visit(child, path.child(name), states, found);
    else if (node.members !== undefined) visit(node.members, path.key(name), states, found);
  }
}

interface Problem {
  readonly detail: string;
  /** The rule could not be asked to its end, or what it was to say could not be made. */
  readonly isFailure?: boolean;
}

/** What is wrong; undefined when the rule holds. Sets the budget below zero where nothing more may be asked. */
function evaluate(rule: Rule, self: unknown, oldSelf: unknown, { budget, toCel }: Found): Problem | undefined {
  const before = toCel(oldSelf ?? null);
  const optional = oldSelf === undefined ? Optional.none() : Optional.of(before);
  const variables = { self: toCel(self), oldSelf: rule.source.optionalOldSelf ? optional : before };
  const { source } = rule;
  const named = source.message?.trim() || source.rule.trim();
  try {
    if (rule.holds(variables, budget) === true) return undefined;
  } catch (error) {
    if (!(error instanceof CostExceeded))
      return { detail: `${reasonOf(error)} evaluating rule: ${named}`, isFailure: true };
    budget.left = -1;
    if (error.of === 'budget') return { detail: OUT_OF_BUDGET, isFailure: true };
    const detail = `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${named}`;
    return { detail, isFailure: true };
  }
  const fixed = { detail: source.message?.trim() || `failed rule: ${source.rule.trim()}` };
  if (rule.message === undefined) return fixed;
  try {
    const message = messageText(rule.message(variables, budget));
    return message === undefined ? fixed : { detail: message };
  } catch (error) {
    // The fixed message says enough.
    if (!(error instanceof CostExceeded)) return fixed;
    budget.left = -1;
    const detail =
      error.of === 'budget'
        ? 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run'
        : `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(source.messageExpression)}`;
    return { detail, isFailure: true };
  }
}

/** The first line, in the words of the real server. */
const reasonOf = (error: unknown): string =>
  ((error as Error).message.split('\n', 1)[0] ?? '').replace(/^No such key/, 'no such key');

function issueOf({ source }: Rule, { type }: Node, { path, self }: Judged, { detail, isFailure }: Problem): Issue {
  if (isFailure) return invalid(path, type, detail);
  const at = source.fieldPath ? path.child(source.fieldPath.replace(/^\./, '')) : path;
  switch (REASONS[source.reason ?? ''] ?? 'FieldValueInvalid') {
    case 'FieldValueRequired':
      return required(at, detail);
    case 'FieldValueForbidden':
      return forbidden(at, detail);
    case 'FieldValueDuplicate':
      return duplicate(at, self);
    default:
      return isWhole(self)
        ? { ...invalid(at, '', detail), message: `Invalid value: ${detail}` }
        : invalid(at, self, detail);
  }
}

/** An object or a list would be too much to show. */
const isWhole = (value: unknown): boolean => typeof value === 'object' && value !== null;

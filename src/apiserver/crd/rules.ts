/**
 * `x-kubernetes-validations`: rules in CEL at any node of a schema, over `self` and, for those that mention it, the
 * state before (`oldSelf`); a rule about a change holds on updates only.
 */
import { Optional } from '@marcbachmann/cel-js';
import type { JSONSchemaProps, ValidationRule } from '../../api/generated/apiextensions-v1.ts';
import {
  deepEqual,
  FieldPath,
  type Issue,
  type IssueRule,
  invalid,
  isObject,
  required,
} from '../../machinery/values/index.ts';
import { compileCel, type Program } from '../cel/compile.ts';
import { CelBudget, CostExceeded } from '../cel/meter.ts';
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
  return { rules, properties, members, keyOf: keyOf(schema) };
}

function keyOf(schema: JSONSchemaProps): (item: unknown) => string | undefined {
  if (schema['x-kubernetes-list-type'] !== 'map') return () => undefined;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return (item) => (isObject(item) ? JSON.stringify(keys.map((name) => item[name] ?? null)) : undefined);
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
    if (problem !== undefined) found.issues.push(issueOf(rule, path, problem));
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

/** What is wrong; undefined when the rule holds. */
function evaluate(rule: Rule, self: unknown, oldSelf: unknown, { budget, toCel }: Found): string | undefined {
  const before = toCel(oldSelf ?? null);
  const optional = oldSelf === undefined ? Optional.none() : Optional.of(before);
  const variables = { self: toCel(self), oldSelf: rule.source.optionalOldSelf ? optional : before };
  try {
    if (rule.holds(variables, budget) === true) return undefined;
  } catch (error) {
    if (!(error instanceof CostExceeded)) return `rule evaluation failed: ${(error as Error).message}`;
    budget.left = -1;
    return `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${rule.source.rule.trim()}`;
  }
  try {
    const message = rule.message?.(variables, budget);
    if (typeof message === 'string' && message.trim() !== '') return message;
  } catch {
    // The fixed message says enough.
  }
  return rule.source.message?.trim() || `failed rule: ${rule.source.rule.trim()}`;
}

function issueOf({ source }: Rule, path: FieldPath, problem: string): Issue {
  const at = source.fieldPath ? path.child(source.fieldPath.replace(/^\./, '')) : path;
  const reason = REASONS[source.reason ?? ''] ?? 'FieldValueInvalid';
  if (reason === 'FieldValueRequired') return required(at, problem);
  const issue = invalid(at, 'object', problem);
  return {
    ...issue,
    rule: reason,
    message: reason === 'FieldValueForbidden' ? `Forbidden: ${problem}` : issue.message,
  };
}

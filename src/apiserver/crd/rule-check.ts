/** Rules of a schema that cannot work: they do not compile, name fields the schema does not have, or cost too much. */
import type { ASTNode } from '@marcbachmann/cel-js';
import type { JSONSchemaProps } from '../../api/generated/apiextensions-v1.ts';
import { type FieldPath, forbidden, type Issue, invalid, isObject, required } from '../../machinery/values/index.ts';
import { compileCel } from '../cel/compile.ts';
import { LIMITS } from '../exchange/limits.ts';
import { estimateRule } from './rule-cost.ts';
import { RULE_VARIABLES } from './rules.ts';
import { type Cardinality, itemsOf, ONCE, timesIn, valuesOf, within } from './schema-size.ts';

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
/** Fields every resource has, named in its schema or not. */
const ALWAYS = new Set(['apiVersion', 'kind', 'metadata']);

/** A schema that `isStored` already keeps its rules whatever they cost, so that its definition can still be changed. */
export function checkRules(schema: JSONSchemaProps, path: FieldPath, isStored = false): Issue[] {
  const found: Found = { issues: [], costs: [], rules: 0, isStored };
  check(schema, path, { isResource: true, cardinality: ONCE }, found);
  if (isStored) return found.issues;
  if (found.rules > LIMITS.celRules) {
    const why = `x-kubernetes-validations has ${found.rules} expressions, the limit for an entire OpenAPIv3 schema is ${LIMITS.celRules}`;
    return [forbidden(path, why)];
  }
  const total = found.costs.reduce((sum, { cost }) => sum + cost, 0);
  if (total > LIMITS.celEstimatedDefinition) {
    const why = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const dearest = found.costs.sort((a, b) => b.cost - a.cost).slice(0, LISTED_RULES);
    const name = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    found.issues.push(...dearest.map(({ path: rule }) => forbidden(rule, why)));
    found.issues.push(forbidden(path, exceeds(name, total, LIMITS.celEstimatedDefinition)));
  }
  return found.issues;
}

/** How many of the dearest rules are named when all together cost too much. */
const LISTED_RULES = 4;

interface Found {
  readonly issues: Issue[];
  readonly costs: { readonly path: FieldPath; readonly cost: number }[];
  rules: number;
  readonly isStored: boolean;
}

interface Where {
  readonly isResource: boolean;
  readonly cardinality: Cardinality;
}

function check(schema: JSONSchemaProps, path: FieldPath, where: Where, found: Found): void {
  const { cardinality } = where;
  for (const [at, { rule, messageExpression }] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    // The rest is counted only.
    if (++found.rules > LIMITS.celRules) continue;
    const own = path.child('x-kubernetes-validations').index(at);
    if (!rule?.trim()) found.issues.push(required(own.child('rule'), 'rule is not specified'));
    else checkExpression({ path: own.child('rule'), name: 'rule', expression: rule }, schema, where, found);
    if (messageExpression) {
      const message = {
        path: own.child('messageExpression'),
        name: 'messageExpression',
        expression: messageExpression,
      };
      checkExpression(message, schema, where, found);
    }
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const isResource = property['x-kubernetes-embedded-resource'] === true;
    check(property, path.child('properties').key(name), { isResource, cardinality }, found);
  }
  const items = itemsOf(schema);
  if (items !== undefined) {
    const inner = { isResource: false, cardinality: within(cardinality, schema.maxItems) };
    check(items, path.child('items'), inner, found);
  }
  const values = valuesOf(schema);
  if (values !== undefined) {
    const inner = { isResource: false, cardinality: within(cardinality, schema.maxProperties) };
    check(values, path.child('additionalProperties'), inner, found);
  }
}

interface Scope {
  readonly schema: JSONSchemaProps;
  readonly isResource: boolean;
}

interface Expression {
  readonly path: FieldPath;
  readonly name: string;
  readonly expression: string;
}

function checkExpression(
  { expression, name, path }: Expression,
  schema: JSONSchemaProps,
  { cardinality, isResource }: Where,
  { costs, isStored, issues }: Found,
): void {
  const compiled = compileCel(expression, RULE_VARIABLES);
  if (!compiled.valid) {
    issues.push(invalid(path, expression, `compilation failed: ${compiled.message}`));
    return;
  }
  const missing: string[] = [];
  findMissing(compiled.ast, { schema, isResource }, missing);
  issues.push(...missing.map((field) => invalid(path, expression, `compilation failed: undefined field '${field}'`)));
  if (isStored) return;
  const cost = estimateRule(compiled.ast, schema) * timesIn(cardinality, schema);
  costs.push({ path, cost });
  if (cost > LIMITS.celEstimatedRule) {
    issues.push(forbidden(path, exceeds(`estimated ${name} cost`, cost, LIMITS.celEstimatedRule)));
  }
}

function exceeds(name: string, cost: number, limit: number): string {
  const times = cost / limit;
  const factor = times > 100 ? 'more than 100' : times.toFixed(times < 1.5 ? 6 : 1);
  return `${name} exceeds budget by factor of ${factor}x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
}

/** Follows chains such as `self.spec.size`; what other expressions give is unknown and passes. */
function findMissing(node: unknown, scope: Scope, missing: string[]): void {
  if (Array.isArray(node)) {
    for (const item of node) findMissing(item, scope, missing);
    return;
  }
  if (!isNode(node)) return;
  if (node.op === '.' || node.op === '.?') {
    const [of, name] = node.args as [ASTNode, string];
    const parent = schemaOf(of, scope);
    if (parent !== undefined && memberOf(parent, name) === undefined) missing.push(name);
  }
  findMissing(node.args, scope, missing);
}

const isNode = (value: unknown): value is ASTNode =>
  typeof value === 'object' && value !== null && typeof (value as { op?: unknown }).op === 'string';

/** Undefined when the value of the node is not known to have a schema. */
function schemaOf(node: ASTNode, scope: Scope): Scope | undefined {
  if (node.op === 'id') return node.args === 'self' || node.args === 'oldSelf' ? scope : undefined;
  if (node.op !== '.') return undefined;
  const [of, name] = node.args as [ASTNode, string];
  const parent = schemaOf(of, scope);
  const found = parent === undefined ? undefined : memberOf(parent, name);
  return found === 'anything' ? undefined : found;
}

/** Undefined: there is no such field. */
function memberOf({ schema, isResource }: Scope, name: string): Scope | 'anything' | undefined {
  const { properties = {}, additionalProperties } = schema;
  const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (own !== undefined && isResource && name === 'metadata') return { schema: withNames(own), isResource: false };
  if (own !== undefined) return { schema: own, isResource: own['x-kubernetes-embedded-resource'] === true };
  if (isObject(additionalProperties)) return { schema: additionalProperties as JSONSchemaProps, isResource: false };
  // Names that CEL cannot spell are written escaped, which is not undone here.
  const open = schema.type !== 'object' || additionalProperties === true || schema[PRESERVE] === true;
  return open || name.includes('__') || (isResource && ALWAYS.has(name)) ? 'anything' : undefined;
}

/** Rules of a resource may ask for these two, whatever its schema says of its metadata. */
function withNames(metadata: JSONSchemaProps): JSONSchemaProps {
  return { ...metadata, properties: { ...metadata.properties, name: TEXT, generateName: TEXT } };
}

const TEXT: JSONSchemaProps = { type: 'string' };

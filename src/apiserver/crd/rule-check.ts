/** Rules of a schema that cannot work: they do not compile, or name fields the schema does not have. */
import type { ASTNode } from '@marcbachmann/cel-js';
import type { JSONSchemaProps } from '../../api/generated/apiextensions-v1.ts';
import { type FieldPath, type Issue, invalid, isObject, required } from '../../machinery/values/index.ts';
import { compileCel } from '../cel/compile.ts';
import { RULE_VARIABLES } from './rules.ts';

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
/** Fields every resource has, named in its schema or not. */
const ALWAYS = new Set(['apiVersion', 'kind', 'metadata']);

export function checkRules(schema: JSONSchemaProps, path: FieldPath, isResource = true): Issue[] {
  const issues: Issue[] = [];
  const scope = { schema, isResource };
  for (const [at, { rule, messageExpression }] of (schema['x-kubernetes-validations'] ?? []).entries()) {
    const own = path.child('x-kubernetes-validations').index(at);
    if (!rule?.trim()) issues.push(required(own.child('rule'), 'rule is not specified'));
    else issues.push(...checkExpression(own.child('rule'), rule, scope));
    if (messageExpression) issues.push(...checkExpression(own.child('messageExpression'), messageExpression, scope));
  }
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const embedded = property['x-kubernetes-embedded-resource'] === true;
    issues.push(...checkRules(property, path.child('properties').key(name), embedded));
  }
  if (isObject(schema.items)) issues.push(...checkRules(schema.items as JSONSchemaProps, path.child('items'), false));
  if (isObject(schema.additionalProperties)) {
    const inner = schema.additionalProperties as JSONSchemaProps;
    issues.push(...checkRules(inner, path.child('additionalProperties'), false));
  }
  return issues;
}

interface Scope {
  readonly schema: JSONSchemaProps;
  readonly isResource: boolean;
}

function checkExpression(path: FieldPath, expression: string, scope: Scope): Issue[] {
  const compiled = compileCel(expression, RULE_VARIABLES);
  if (!compiled.valid) return [invalid(path, expression, `compilation failed: ${compiled.message}`)];
  const missing: string[] = [];
  findMissing(compiled.ast, scope, missing);
  return missing.map((name) => invalid(path, expression, `compilation failed: undefined field '${name}'`));
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
  if (own !== undefined) return { schema: own, isResource: own['x-kubernetes-embedded-resource'] === true };
  if (isObject(additionalProperties)) return { schema: additionalProperties as JSONSchemaProps, isResource: false };
  // Names that CEL cannot spell are written escaped, which is not undone here.
  const open = schema.type !== 'object' || additionalProperties === true || schema[PRESERVE] === true;
  return open || name.includes('__') || (isResource && ALWAYS.has(name)) ? 'anything' : undefined;
}

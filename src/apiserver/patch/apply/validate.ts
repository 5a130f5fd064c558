import type { ListNode, ObjectNode, SchemaNode } from '../../../api/schema/index.ts';
import { isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { fieldElement, formatElement, itemElement, UnkeyedItemError } from './path-element.ts';

/**
 * Why a value does not fit its schema, in the words of structured-merge-diff: `.spec.x: field not declared in
 * schema`. Empty when it fits. Associative lists may repeat a key only where that is allowed.
 */
export function typeErrors(value: JsonObject, node: ObjectNode): string[] {
  const errors: string[] = [];
  visit(value, node, '', errors);
  return errors;
}

export function formatTypeErrors(errors: readonly string[]): string {
  return errors.length === 1 ? (errors[0] as string) : ['errors:', ...errors.map((error) => `  ${error}`)].join('\n');
}

function visit(value: unknown, node: SchemaNode, path: string, errors: string[]): void {
  if (value === null || value === undefined) return;
  const fail = (message: string): void => void errors.push(path === '' ? message : `${path}: ${message}`);
  switch (node.kind) {
    case 'any':
      return;
    case 'scalar':
      checkScalar(value, node.type, fail);
      return;
    case 'list':
      if (!Array.isArray(value)) fail(`expected list, got ${describe(value)}`);
      else visitList(value, node, path, errors);
      return;
    case 'object':
      if (!isObject(value)) fail(`expected map, got ${describe(value)}`);
      else visitObject(value, node, path, errors);
  }
}

function visitObject(value: JsonObject, node: ObjectNode, path: string, errors: string[]): void {
  for (const key of Object.keys(value)) {
    const at = `${path}${formatElement(fieldElement(key))}`;
    const member = node.property(key);
    if (member === undefined) errors.push(`${at}: field not declared in schema`);
    else visit(value[key], member, at, errors);
  }
}

function visitList(list: readonly unknown[], node: ListNode, path: string, errors: string[]): void {
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    let at = `[${index}]`;
    if (node.listType !== 'atomic') {
      try {
        const element = itemElement(node, item);
        at = formatElement(element);
        if (seen.has(element)) errors.push(`${path}: duplicate entries for key ${at}`);
        seen.add(element);
      } catch (error) {
        if (!(error instanceof UnkeyedItemError)) throw error;
        errors.push(`${path}: element ${index}: ${error.message}`);
        return;
      }
    }
    visit(item, node.element, `${path}${at}`, errors);
  }
}

function checkScalar(value: unknown, type: string, fail: (message: string) => void): void {
  switch (type) {
    case 'number':
      if (typeof value !== 'number') fail(`expected numeric (int or float), got ${goType(value)}`);
      return;
    case 'string':
      if (typeof value !== 'string') fail(`expected string, got &value.valueUnstructured{Value:${describe(value)}}`);
      return;
    case 'boolean':
      if (typeof value !== 'boolean') fail(`expected boolean, got &{${describe(value)}}`);
      return;
    default:
      if (typeof value === 'object') fail(`expected any scalar, got &{${describe(value)}}`);
  }
}

function describe(value: unknown): string {
  return JSON.stringify(value);
}

function goType(value: unknown): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}

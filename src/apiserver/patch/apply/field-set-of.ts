import type { ListNode, ObjectNode, SchemaNode } from '../../../api/schema/index.ts';
import { isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { type FieldSet, FieldSetBuilder } from './field-set.ts';
import { fieldElement, itemElement } from './path-element.ts';

/** The fields an object sets: every leaf, every map key and every item of an associative list. */
export function fieldSetOf(value: JsonObject, node: ObjectNode): FieldSet {
  const builder = new FieldSetBuilder();
  visitObject(value, node, [], builder);
  return builder.build();
}

function visit(value: unknown, node: SchemaNode | undefined, path: string[], out: FieldSetBuilder): void {
  switch (node?.kind) {
    case 'object':
      if (node.atomic) out.insert(path);
      else if (isObject(value)) visitObject(value, node, path, out);
      else if (value !== null) out.insert(path);
      return;
    case 'list':
      if (node.listType === 'atomic') out.insert(path);
      else if (Array.isArray(value)) visitList(value, node, path, out);
      else if (value !== null) out.insert(path);
      return;
    case 'any':
      if (node.deduced && isObject(value)) visitObject(value, undefined, path, out);
      else out.insert(path);
      return;
    default:
      out.insert(path);
  }
}

/** Without a node the members are deduced from their values. */
function visitObject(value: JsonObject, node: ObjectNode | undefined, path: string[], out: FieldSetBuilder): void {
  for (const key of Object.keys(value)) {
    const member = value[key];
    path.push(fieldElement(key));
    visit(member, node === undefined ? { kind: 'any', deduced: true } : node.property(key), path, out);
    const empty = member === null || (isObject(member) && Object.keys(member).length === 0);
    if (empty || node === undefined || node.isMap) out.insert(path);
    path.pop();
  }
}

/** Items that share a key are owned together, as nobody can tell them apart. */
function visitList(list: readonly unknown[], node: ListNode, path: string[], out: FieldSetBuilder): void {
  const elements = list.map((item) => itemElement(node, item));
  const counts = new Map<string, number>();
  for (const element of elements) counts.set(element, (counts.get(element) ?? 0) + 1);
  list.forEach((item, index) => {
    const element = elements[index] as string;
    path.push(element);
    if (counts.get(element) === 1) visit(item, node.element, path, out);
    out.insert(path);
    path.pop();
  });
}

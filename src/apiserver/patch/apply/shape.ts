/**
 * Remembers a text for every shape of value. Containers of one template differ in their values, but their writers own
 * the same fields: the shape (which fields are there, which of them are zero, what list items are called) leads through
 * a tree to the same place. Shapes are compared step by step, so two of them are never taken for one another.
 */
import type { ListNode, ObjectNode, SchemaNode } from '../../../api/schema/index.ts';
import { isObject, type JsonObject } from '../../../machinery/values/index.ts';
import { walkOf } from './effective-node.ts';
import { isZero } from './zero.ts';

/** Where a shape has led so far, and what is known of objects whose shape ends here. */
export class ShapeStep extends Map<unknown, ShapeStep> {
  text: string | undefined;
}

/** More steps than any usual set of templates takes; past that all is forgotten. */
const MAX_STEPS = 100_000;
const NOTHING = Symbol('nothing');
const LEAF = Symbol('leaf');
const OPEN = Symbol('open');
const CLOSE = Symbol('close');
const ITEMS = Symbol('items');

export class Shapes {
  #roots = new WeakMap<SchemaNode, ShapeStep>();
  #steps = 0;
  #at = new ShapeStep();
  #plain = true;

  /** Undefined: the value has something that a shape cannot tell. */
  find(value: unknown, node: SchemaNode): ShapeStep | undefined {
    if (this.#steps > MAX_STEPS) {
      this.#roots = new WeakMap();
      this.#steps = 0;
    }
    let root = this.#roots.get(node);
    if (root === undefined) {
      root = new ShapeStep();
      this.#roots.set(node, root);
    }
    this.#at = root;
    this.#plain = true;
    this.#value(value, node, false);
    return this.#plain ? this.#at : undefined;
  }

  #step(token: unknown): void {
    let next = this.#at.get(token);
    if (next === undefined) {
      next = new ShapeStep();
      this.#at.set(token, next);
      this.#steps += 1;
    }
    this.#at = next;
  }

  #value(value: unknown, node: SchemaNode | undefined, exists: boolean): void {
    if (value === undefined || (exists && isZero(value))) {
      this.#step(NOTHING);
      return;
    }
    const walk = walkOf(node, undefined, value);
    if (walk === undefined) this.#step(LEAF);
    else if (walk.kind === 'list') this.#items(value as unknown[] | null, walk);
    else this.#members(value as JsonObject | null, walk, exists);
  }

  #members(object: JsonObject | null, node: ObjectNode, exists: boolean): void {
    this.#step(OPEN);
    for (const key of Object.keys(object ?? {})) {
      this.#step(key);
      this.#value(object?.[key], node.property(key), exists && node.alwaysPresent(key));
    }
    this.#step(CLOSE);
  }

  #items(list: readonly unknown[] | null, node: ListNode): void {
    this.#step(ITEMS);
    for (const item of list ?? []) {
      if (node.listType === 'map') {
        if (!isObject(item)) this.#plain = false;
        else for (const name of node.keys) this.#name(item[name]);
      } else this.#name(item);
      if (!this.#plain) return;
      this.#value(item, node.element, false);
    }
    this.#step(CLOSE);
  }

  /** What tells an item from the others, as it is. */
  #name(value: unknown): void {
    if (typeof value === 'object') this.#plain = false;
    else this.#step(value);
  }
}

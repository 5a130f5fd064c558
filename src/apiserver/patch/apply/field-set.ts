/**
 * A set of field paths, in the shape of fieldsV1 itself so that reading and writing it costs nothing. Keys are path
 * elements (`f:name`, `k:{"name":"c"}`, `v:"x"`, `i:0`). A node is in the set when it is empty or has a `.` member;
 * otherwise it only leads to its children. The root is never in the set, so `{}` at the root is the empty set.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

export const EMPTY_SET: FieldSet = Object.freeze({});
const SELF = '.';

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

function isMember(node: FieldSet): boolean {
  return SELF in node || isEmptySet(node);
}

/** A node that is a member or not, above the given children; undefined when nothing is left of it. */
function nodeOf(member: boolean, children: Record<string, FieldSet>): FieldSet | undefined {
  if (isEmptySet(children)) return member ? EMPTY_SET : undefined;
  return member ? { [SELF]: EMPTY_SET, ...children } : children;
}

function childKeys(node: FieldSet): string[] {
  return Object.keys(node).filter((key) => key !== SELF);
}

type Combine = (a: FieldSet, b: FieldSet) => FieldSet | undefined;

/** Applies `both` to elements of both sets; elements of only one are kept as asked. */
function combineChildren(a: FieldSet, b: FieldSet, keepA: boolean, keepB: boolean, both: Combine) {
  const children: Record<string, FieldSet> = {};
  for (const key of childKeys(a)) {
    const other = b[key];
    const kept = other === undefined ? (keepA ? a[key] : undefined) : both(a[key] as FieldSet, other);
    if (kept !== undefined) children[key] = kept;
  }
  if (keepB) for (const key of childKeys(b)) if (a[key] === undefined) children[key] = b[key] as FieldSet;
  return children;
}

const unionNodes: Combine = (a, b) =>
  a === b ? a : nodeOf(isMember(a) || isMember(b), combineChildren(a, b, true, true, unionNodes));
const intersectNodes: Combine = (a, b) =>
  nodeOf(isMember(a) && isMember(b), combineChildren(a, b, false, false, intersectNodes));
const subtractNodes: Combine = (a, b) =>
  nodeOf(isMember(a) && !isMember(b), combineChildren(a, b, true, false, subtractNodes));
const subtractTrees: Combine = (a, b) =>
  isMember(b) ? undefined : nodeOf(isMember(a), combineChildren(a, b, true, false, subtractTrees));

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  if (isEmptySet(a)) return b;
  return combineChildren(a, b, true, true, unionNodes);
}

export function intersect(a: FieldSet, b: FieldSet): FieldSet {
  return combineChildren(a, b, false, false, intersectNodes);
}

/** Members of `a` that are not members of `b`; what lies below a removed member stays. */
export function subtract(a: FieldSet, b: FieldSet): FieldSet {
  return isEmptySet(b) ? a : combineChildren(a, b, true, false, subtractNodes);
}

/** As subtract, but a member of `b` takes everything below it along. */
export function subtractDeep(a: FieldSet, b: FieldSet): FieldSet {
  return isEmptySet(b) ? a : combineChildren(a, b, true, false, subtractTrees);
}

export function hasMember(set: FieldSet, element: string): boolean {
  const node = set[element];
  return node !== undefined && isMember(node);
}

/** What lies below an element, as a set of its own. */
export function below(set: FieldSet, element: string): FieldSet {
  const node = set[element];
  if (node === undefined) return EMPTY_SET;
  if (!(SELF in node)) return node;
  const { [SELF]: _, ...children } = node;
  return children;
}

export function isSameSet(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => b[key] !== undefined && isSameSet(a[key] as FieldSet, b[key]));
}

/** A set being filled path by path. */
export class FieldSetBuilder {
  readonly #root: Record<string, FieldSet> = {};

  insert(path: readonly string[]): void {
    let node = this.#root;
    for (let depth = 0; depth < path.length; depth++) {
      const element = path[depth] as string;
      const child = node[element] as Record<string, FieldSet> | undefined;
      const last = depth === path.length - 1;
      if (child === undefined) {
        const created: Record<string, FieldSet> = {};
        node[element] = created;
        node = created;
      } else {
        // An empty node is a member; before it gets children that must be said with a dot.
        if (!last ? isEmptySet(child) : !isEmptySet(child)) child[SELF] = EMPTY_SET;
        node = child;
      }
    }
  }

  build(): FieldSet {
    return this.#root;
  }
}

export function setOfPaths(paths: readonly (readonly string[])[]): FieldSet {
  const builder = new FieldSetBuilder();
  for (const path of paths) builder.insert(path.map((name) => `f:${name}`));
  return builder.build();
}

/** Every member, parents before children, siblings in order. */
export function membersOf(set: FieldSet): string[][] {
  const members: string[][] = [];
  const visit = (node: FieldSet, prefix: string[]): void => {
    for (const key of childKeys(node).sort()) {
      const path = [...prefix, key];
      const child = node[key] as FieldSet;
      if (isMember(child)) members.push(path);
      visit(child, path);
    }
  };
  visit(set, []);
  return members;
}

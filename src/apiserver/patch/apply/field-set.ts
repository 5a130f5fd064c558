/**
 * A set of field paths, in the shape of fieldsV1 itself so that reading and writing it costs nothing. Keys are path
 * elements (`f:name`, `k:{"name":"c"}`, `v:"x"`, `i:0`). A node is in the set when it is empty or has a `.` member;
 * otherwise it only leads to its children. The root is never in the set, so `{}` at the root is the empty set.
 * Sets are never changed once built; operations share what they do not touch.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

export const EMPTY_SET: FieldSet = Object.freeze({});
const SELF = '.';

export function isEmptySet(set: FieldSet): boolean {
  return set === EMPTY_SET || Object.keys(set).length === 0;
}

function isMember(node: FieldSet): boolean {
  return node[SELF] !== undefined || isEmptySet(node);
}

function childKeys(node: FieldSet): string[] {
  const keys = Object.keys(node);
  return node[SELF] === undefined ? keys : keys.filter((key) => key !== SELF);
}

/** A node that is a member or not, above the given children; undefined when nothing is left of it. */
function nodeOf(member: boolean, children: Record<string, FieldSet>): FieldSet | undefined {
  if (isEmptySet(children)) return member ? EMPTY_SET : undefined;
  if (member) children[SELF] = EMPTY_SET;
  return children;
}

export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmptySet(b)) return a;
  return isEmptySet(a) ? b : unionOf(a, b);
}

function unionOf(a: FieldSet, b: FieldSet): Record<string, FieldSet> {
  const result: Record<string, FieldSet> = { ...a };
  for (const key of childKeys(b)) {
    const [left, right] = [a[key], b[key] as FieldSet];
    result[key] = left === undefined ? right : unionNodes(left, right);
  }
  return result;
}

function unionNodes(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b) return a;
  if (isEmptySet(a) && isEmptySet(b)) return EMPTY_SET;
  const result = unionOf(a, b);
  if (isMember(a) || isMember(b)) result[SELF] = EMPTY_SET;
  return result;
}

export function intersect(a: FieldSet, b: FieldSet): FieldSet {
  const result: Record<string, FieldSet> = {};
  for (const key of childKeys(b)) {
    const left = a[key];
    if (left === undefined) continue;
    const right = b[key] as FieldSet;
    const node = nodeOf(isMember(left) && isMember(right), intersect(left, right) as Record<string, FieldSet>);
    if (node !== undefined) result[key] = node;
  }
  return result;
}

/** Members of `a` that are not members of `b`; what lies below a removed member stays. */
export function subtract(a: FieldSet, b: FieldSet): FieldSet {
  return subtractWith(a, b, (left, right) => {
    const children = { ...subtract(left, right) } as Record<string, FieldSet>;
    delete children[SELF];
    return nodeOf(isMember(left) && !isMember(right), children);
  });
}

/** As subtract, but a member of `b` takes everything below it along. */
export function subtractDeep(a: FieldSet, b: FieldSet): FieldSet {
  return subtractWith(a, b, (left, right) => {
    if (isMember(right)) return undefined;
    const children = { ...subtractDeep(left, right) } as Record<string, FieldSet>;
    delete children[SELF];
    return nodeOf(isMember(left), children);
  });
}

/** Copies a level only when `b` touches it. */
function subtractWith(a: FieldSet, b: FieldSet, rest: (a: FieldSet, b: FieldSet) => FieldSet | undefined): FieldSet {
  let result: Record<string, FieldSet> | undefined;
  for (const key of childKeys(b)) {
    const left = a[key];
    if (left === undefined) continue;
    const kept = rest(left, b[key] as FieldSet);
    result ??= { ...a };
    if (kept === undefined) delete result[key];
    else result[key] = kept;
  }
  return result ?? a;
}

export function hasMember(set: FieldSet, element: string): boolean {
  const node = set[element];
  return node !== undefined && isMember(node);
}

/** What lies below an element, as a set of its own. */
export function below(set: FieldSet, element: string): FieldSet {
  const node = set[element];
  if (node === undefined) return EMPTY_SET;
  if (node[SELF] === undefined) return node;
  const { [SELF]: _, ...children } = node;
  return children;
}

export function containsPath(set: FieldSet, path: readonly string[]): boolean {
  let node: FieldSet | undefined = set;
  for (const element of path) {
    node = node[element];
    if (node === undefined) return false;
  }
  return isMember(node);
}

/** A set being filled path by path; paths that follow each other share their way down. */
export class FieldSetBuilder {
  readonly #root: Record<string, FieldSet> = {};
  /** The nodes above the last inserted one, and the elements that led to them. */
  readonly #nodes: Record<string, FieldSet>[] = [this.#root];
  readonly #elements: string[] = [];
  #known = 0;

  insert(path: readonly string[]): void {
    const last = path.length - 1;
    let depth = 0;
    while (depth < last && depth < this.#known && path[depth] === this.#elements[depth]) depth++;
    let node = this.#nodes[depth] as Record<string, FieldSet>;
    for (; depth < last; depth++) {
      const element = path[depth] as string;
      let child = node[element] as Record<string, FieldSet> | undefined;
      if (child === undefined) {
        child = {};
        node[element] = child;
      } else if (child === EMPTY_SET) {
        // An empty node is a member, and one for all; once it has children that must be said with a dot.
        child = { [SELF]: EMPTY_SET };
        node[element] = child;
      }
      node = child;
      this.#elements[depth] = element;
      this.#nodes[depth + 1] = child;
    }
    this.#known = last;
    const element = path[last] as string;
    const child = node[element] as Record<string, FieldSet> | undefined;
    if (child === undefined) node[element] = EMPTY_SET;
    else if (child !== EMPTY_SET) child[SELF] = EMPTY_SET;
  }

  build(): FieldSet {
    return this.#root;
  }
}

/** The set with every level in the order of its keys, the node itself first; levels in order are kept as they are. */
export function inOrder(set: FieldSet): FieldSet {
  if (set === EMPTY_SET) return set;
  const keys = Object.keys(set);
  let result: Record<string, FieldSet> | undefined;
  for (let i = 0; i < keys.length; i++) {
    if (i > 0 && (keys[i] as string) < (keys[i - 1] as string)) {
      result = {};
      break;
    }
  }
  if (result !== undefined) {
    for (const key of keys.sort()) result[key] = inOrder(set[key] as FieldSet);
    return result;
  }
  for (const key of keys) {
    const child = set[key] as FieldSet;
    const ordered = inOrder(child);
    if (ordered !== child) {
      result ??= { ...set };
      result[key] = ordered;
    }
  }
  return result ?? set;
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

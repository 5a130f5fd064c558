/** What the API knows: its kinds and their fields, as far as somebody tells. */
import { type KubeObject, splitApiVersion } from '../../api/resource.ts';

export type FieldTree =
  | { readonly kind: 'struct'; readonly fields: ReadonlyMap<string, () => FieldTree> }
  | { readonly kind: 'list'; readonly of: FieldTree }
  | { readonly kind: 'map'; readonly of: FieldTree }
  /** Any value will do. */
  | { readonly kind: 'any' };

export interface KnownApi {
  /** The kinds of a group in a version; undefined where that is not known whole, as for custom resources. */
  kindsOf(group: string, version: string): readonly string[] | undefined;
  /** Undefined for kinds that are not known. */
  fieldsOf(group: string, version: string, kind: string): FieldTree | undefined;
}

export interface UnknownField {
  readonly path: string;
  readonly name: string;
  readonly near: string | undefined;
}

/** Fields that a strict API server refuses. What stands below one is not looked at. */
export function unknownFields(object: KubeObject, api: KnownApi): UnknownField[] {
  const { group, version } = splitApiVersion(object.apiVersion ?? '');
  const tree = api.fieldsOf(group, version, object.kind ?? '');
  const found: UnknownField[] = [];
  if (tree !== undefined) walk(object, tree, '', found);
  return found;
}

function walk(value: unknown, tree: FieldTree, path: string, found: UnknownField[]): void {
  if (typeof value !== 'object' || value === null || tree.kind === 'any') return;
  if (tree.kind === 'list') {
    if (Array.isArray(value)) for (const [at, item] of value.entries()) walk(item, tree.of, `${path}[${at}]`, found);
    return;
  }
  if (Array.isArray(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (tree.kind === 'map') {
      walk(member, tree.of, `${path}[${name}]`, found);
      continue;
    }
    const below = path === '' ? name : `${path}.${name}`;
    const field = tree.fields.get(name);
    if (field === undefined) found.push({ path: below, name, near: nearest(name, [...tree.fields.keys()]) });
    else walk(member, field(), below, found);
  }
}

const FARTHEST = 2;

/** The name that was probably meant: the same but for capitals, or up to two letters away. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: { name: string; distance: number } | undefined;
  for (const other of known) {
    const distance = distanceOf(name.toLowerCase(), other.toLowerCase());
    const allowed = Math.min(FARTHEST, Math.floor(other.length / 3));
    if (distance <= allowed && (best === undefined || distance < best.distance)) best = { name: other, distance };
  }
  return best?.name;
}

/** Letters to add, drop or change. */
function distanceOf(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > FARTHEST) return FARTHEST + 1;
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

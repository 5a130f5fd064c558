import { duplicate, type FieldPath, type Issue } from '../../machinery/values/index.ts';

type Named = readonly { readonly name: string }[];

/** Lists that are maps by name: each name that is there twice is told where it is again. */
export function duplicateNames(path: FieldPath, list: Named): Issue[] {
  const seen = new Set<string>();
  return list.flatMap(({ name }, at) => {
    if (seen.has(name)) return [duplicate(path.index(at), { name })];
    seen.add(name);
    return [];
  });
}

export const hasDuplicates = (list: Named): boolean => new Set(list.map(({ name }) => name)).size < list.length;

import { numberAt, PageFile, readMeta, type Tree } from './page-file.ts';
import { TreeWalker } from './tree-walk.ts';

/** Runs of pages that hold nothing any more: the first of each and how many. */
export function freePages(file: PageFile, walker: TreeWalker, tree: Tree): [first: number, count: number][] {
  const runs: [number, number][] = [];
  walker.walk(
    tree,
    ({ value }) => {
      const length = numberAt(file, value, 0);
      if ((length + 1) * 8 > value.length) throw file.damaged('a list of free pages is cut short');
      for (let at = 1; at <= length; at += 1) {
        // Zero: nothing. Negative: so many pages, from the number that follows.
        const number = Number(value.readBigInt64LE(at * 8));
        const before = at === 1 ? 0 : Number(value.readBigInt64LE((at - 1) * 8));
        if (number > 0) runs.push([number, before < 0 ? -before : 1]);
      }
    },
    (a, b) => Number(a.readBigUInt64LE(0) - b.readBigUInt64LE(0)),
  );
  return runs;
}

/** How many pages inside the file are free. */
export function countFreePages(path: string): number {
  const file = new PageFile(path);
  try {
    const meta = readMeta(file);
    return freePages(file, new TreeWalker(file, meta), meta.free).reduce((sum, [, count]) => sum + count, 0);
  } finally {
    file.close();
  }
}

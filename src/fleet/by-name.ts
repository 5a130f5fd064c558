const collator = new Intl.Collator('en', { numeric: true });

/** As people sort names: `node-2` before `node-10`. */
export const byName = (a: string, b: string): number => collator.compare(a, b);

import type { ResourceQuota } from '../../../api/generated/core-v1.ts';
import { addAmounts, type CountedKind, countsTowards, inScope, usageOf } from '../../../decisions/quota/index.ts';

/** Kinds with names of their own in quotas; every other one is named `count/<plural>.<group>`. */
const NAMED: readonly CountedKind[] = [
  'pods',
  'services',
  'persistentvolumeclaims',
  'configmaps',
  'secrets',
  'replicationcontrollers',
  'resourcequotas',
].map((plural) => ({ group: '', plural }));

/** The kinds whose objects have to be counted for these names. */
export function kindsOf(names: Iterable<string>): CountedKind[] {
  const kinds = new Map<string, CountedKind>();
  for (const name of names) {
    const named = NAMED.find((kind) => countsTowards(kind, name));
    const kind = named ?? parseCountName(name);
    if (kind !== undefined) kinds.set(`${kind.plural}.${kind.group}`, kind);
  }
  return [...kinds.values()];
}

function parseCountName(name: string): CountedKind | undefined {
  if (!name.startsWith('count/')) return undefined;
  const [plural = '', ...group] = name.slice('count/'.length).split('.');
  return { plural, group: group.join('.') };
}

/** What the objects of a namespace use of a quota: every name the quota limits, zero where nothing counts. */
export function computeUsed(
  quota: ResourceQuota,
  objects: readonly { readonly kind: CountedKind; readonly items: readonly object[] }[],
  now: number,
): Record<string, string> {
  const names = Object.keys(quota.spec?.hard ?? {});
  let used: Record<string, string> = Object.fromEntries(names.map((name) => [name, '0']));
  for (const { kind, items } of objects) {
    for (const item of items) {
      if (!inScope(quota, kind, item)) continue;
      const usage = Object.entries(usageOf(kind, item, now)).filter(([name]) => name in used);
      used = addAmounts(used, Object.fromEntries(usage));
    }
  }
  return used;
}

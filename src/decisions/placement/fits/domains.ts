import type { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import { type NodePool, poolOf } from '../cluster/node-pools.ts';
import type { Constraint } from '../filters/constraint.ts';
import type { Domain, GroupAsk } from './model.ts';

export type Domains =
  | { readonly refused: Constraint; readonly values?: readonly string[] }
  | {
      readonly domains: readonly { readonly domain: Domain; readonly pool: NodePool }[];
      readonly going: boolean;
    };

/** The domains that a group may go to: the one its members stand in, or all that nodes have, fullest first. */
export function domainsFor(ask: GroupAsk, cluster: Cluster): Domains {
  const rules = (ask.topology ?? []).filter(({ mode }) => mode === 'Required');
  const required = [...new Set(rules.map(({ key }) => key))];
  const preferred = (ask.topology ?? []).filter(({ mode }) => mode === 'Preferred').map(({ key }) => key);
  const going = (ask.leaving?.length ?? 0) > 0 && ask.now !== true;
  const own = [...(ask.staying ?? []), ...(ask.now === true ? (ask.leaving ?? []) : [])];
  const [first = ''] = required;
  const pinned = new Map<string, string>();
  for (const { key, pins = [] } of rules) {
    const values = new Set([...own, ...pins].map((name) => cluster.node(name)?.labels[key]));
    if (values.has(undefined)) return { refused: { filter: 'Topology', key, cause: 'DomainUnlabelled' } };
    if (values.size > 1) {
      return {
        refused: { filter: 'Topology', key, cause: 'DomainSplit' },
        values: valuesOf(own, pins, required, cluster),
      };
    }
    for (const value of values) pinned.set(key, value as string);
  }
  const found = openDomains(required, { pinned, within: ask.within }, cluster);
  if (found.length === 0) return { refused: { filter: 'Topology', key: first, cause: 'NoLabel' } };
  if (found.length === 1) return { domains: found, going };
  const scarcest = scarcestSlot(ask, cluster);
  const ranked = found.map((entry) => ({
    entry,
    id: idOf(entry.domain, required),
    missed: preferred.filter((key) => new Set(entry.pool.nodes.map(({ labels }) => labels[key])).size > 1).length,
    free: entry.pool.nodes.reduce((sum, { allocatable, requested }) => {
      return sum + Math.max(0, (allocatable[scarcest] ?? 0) - (requested[scarcest] ?? 0));
    }, 0),
  }));
  ranked.sort((a, b) => a.missed - b.missed || a.free - b.free || (a.id < b.id ? -1 : 1));
  return { domains: ranked.map(({ entry }) => entry), going };
}

/** The domains that members stand in, as texts. */
function valuesOf(
  own: readonly string[],
  pins: readonly string[],
  keys: readonly string[],
  cluster: Cluster,
): readonly string[] {
  const found = [...own, ...pins].flatMap((name) => {
    const labels = domainOf(cluster.node(name), keys)?.labels;
    return labels === undefined ? [] : [Object.values(labels).join('/')];
  });
  return [...new Set(found)].sort();
}

/** Whether a node is in a domain; none is everywhere. */
export const isInside = ({ labels }: NodeFacts, domain: Domain | undefined): boolean =>
  Object.entries(domain?.labels ?? {}).every(([key, value]) => labels[key] === value);

/** The domains of these labels that have nodes which take pods; only those that members stand in, where any do. */
function openDomains(
  keys: readonly string[],
  { pinned, within }: { pinned: ReadonlyMap<string, string>; within: Domain | undefined },
  cluster: Cluster,
): { domain: Domain; pool: NodePool }[] {
  const [key = ''] = keys;
  if (keys.length === 1 && within === undefined) {
    const pools = [...cluster.openBy(key)].filter(([value]) => (pinned.get(key) ?? value) === value);
    return pools.map(([value, pool]) => ({ domain: { labels: { [key]: value } }, pool }));
  }
  const found = new Map<string, { domain: Domain; nodes: NodeFacts[] }>();
  for (const node of cluster.open().nodes) {
    const domain = isInside(node, within) ? domainOf(node, keys) : undefined;
    if (domain === undefined || [...pinned].some(([label, value]) => domain.labels[label] !== value)) continue;
    const id = idOf(domain, keys);
    const known = found.get(id);
    if (known === undefined) found.set(id, { domain, nodes: [node] });
    else known.nodes.push(node);
  }
  return [...found.values()].map(({ domain, nodes }) => ({ domain, pool: poolOf(nodes) }));
}

/** The values of a domain as one text; a single one as it is. */
const idOf = ({ labels }: Domain, keys: readonly string[]): string =>
  keys.length === 1 ? (labels[keys[0] ?? ''] ?? '') : JSON.stringify(keys.map((key) => labels[key]));

function domainOf(node: NodeFacts | undefined, keys: readonly string[]): Domain | undefined {
  const labels: Record<string, string> = {};
  for (const key of keys) {
    const value = node?.labels[key];
    if (value === undefined) return undefined;
    labels[key] = value;
  }
  return { labels };
}

/** The resource of which the group takes the largest share of what a large node has. */
function scarcestSlot({ pods }: GroupAsk, cluster: Cluster): number {
  const largest = cluster.largest();
  const sums: number[] = [];
  for (const { requests } of pods) for (const { amount, slot } of requests) sums[slot] = (sums[slot] ?? 0) + amount;
  let scarcest = 0;
  let most = -1;
  for (const [slot, amount] of sums.entries()) {
    const share = (amount ?? 0) / Math.max(largest[slot] ?? 1, 1);
    if (share > most) [scarcest, most] = [slot, share];
  }
  return scarcest;
}

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
  const required = (ask.topology ?? []).filter(({ mode }) => mode === 'Required').map(({ key }) => key);
  const preferred = (ask.topology ?? []).filter(({ mode }) => mode === 'Preferred').map(({ key }) => key);
  const going = (ask.leaving?.length ?? 0) > 0 && ask.now !== true;
  const pins = [...(ask.staying ?? []), ...(ask.now === true ? (ask.leaving ?? []) : [])];
  const [first = ''] = required;
  const pinned = new Map<string, Domain>();
  for (const name of pins) {
    const domain = domainOf(cluster.node(name), required);
    if (domain === undefined) return { refused: { filter: 'Topology', key: first, cause: 'DomainUnlabelled' } };
    pinned.set(idOf(domain, required), domain);
  }
  if (pinned.size > 1) {
    const values = [...pinned.values()].map(({ labels }) => Object.values(labels).join('/')).sort();
    return { refused: { filter: 'Topology', key: first, cause: 'DomainSplit' }, values };
  }
  const found = openDomains(required, pinned, cluster);
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

/** The domains of these labels that have nodes which take pods; only those that members stand in, where any do. */
function openDomains(
  keys: readonly string[],
  pinned: ReadonlyMap<string, Domain>,
  cluster: Cluster,
): { domain: Domain; pool: NodePool }[] {
  const [key = ''] = keys;
  const ids = (id: string): boolean => pinned.size === 0 || pinned.has(id);
  if (keys.length === 1) {
    const pools = [...cluster.openBy(key)].filter(([value]) => ids(value));
    return pools.map(([value, pool]) => ({ domain: { labels: { [key]: value } }, pool }));
  }
  const found = new Map<string, { domain: Domain; nodes: NodeFacts[] }>();
  for (const node of cluster.open().nodes) {
    const domain = domainOf(node, keys);
    const id = domain && idOf(domain, keys);
    if (id === undefined || domain === undefined || !ids(id)) continue;
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

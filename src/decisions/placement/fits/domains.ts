import type { Cluster } from '../cluster/cluster.ts';
import type { NodeFacts } from '../cluster/node-facts.ts';
import type { Constraint } from '../filters/constraint.ts';
import type { Domain, GroupAsk } from './model.ts';

export type Domains =
  | { readonly refused: Constraint; readonly values?: readonly string[] }
  | {
      readonly domains: readonly { readonly domain: Domain; readonly nodes: readonly NodeFacts[] }[];
      readonly going: boolean;
    };

/** Nodes that take pods at all. */
const isOpen = ({ closed }: NodeFacts): boolean => !closed;

/** The domains that a group may go to: the one its members stand in, or all that nodes have, fullest first. */
export function domainsFor(ask: GroupAsk, nodes: readonly NodeFacts[], cluster: Cluster): Domains {
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
  const found = new Map<string, { domain: Domain; nodes: NodeFacts[] }>();
  for (const node of nodes) {
    if (!isOpen(node)) continue;
    const id = required.length === 1 ? node.labels[first] : nodeId(node, required);
    if (id === undefined || (pinned.size > 0 && !pinned.has(id))) continue;
    const known = found.get(id);
    if (known !== undefined) known.nodes.push(node);
    else {
      const domain = domainOf(node, required);
      if (domain !== undefined) found.set(id, { domain, nodes: [node] });
    }
  }
  if (found.size === 0) return { refused: { filter: 'Topology', key: first, cause: 'NoLabel' } };
  const scarcest = scarcestSlot(ask, cluster);
  const ranked = [...found].map(([id, entry]) => ({
    id,
    entry,
    missed: preferred.filter((key) => new Set(entry.nodes.map(({ labels }) => labels[key])).size > 1).length,
    free: entry.nodes.reduce((sum, { allocatable, requested }) => {
      return sum + Math.max(0, (allocatable[scarcest] ?? 0) - (requested[scarcest] ?? 0));
    }, 0),
  }));
  ranked.sort((a, b) => a.missed - b.missed || a.free - b.free || (a.id < b.id ? -1 : 1));
  return { domains: ranked.map(({ entry }) => entry), going };
}

/** The values of a domain as one text; a single one as it is. */
const idOf = ({ labels }: Domain, keys: readonly string[]): string =>
  keys.length === 1 ? (labels[keys[0] ?? ''] ?? '') : JSON.stringify(keys.map((key) => labels[key]));

function nodeId(node: NodeFacts, keys: readonly string[]): string | undefined {
  const domain = domainOf(node, keys);
  return domain && idOf(domain, keys);
}

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

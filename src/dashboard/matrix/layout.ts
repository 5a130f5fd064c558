/** Where nodes and groups stand in the matrix. Pure. */
import type { Node } from '../../api/generated/core-v1.ts';
import { byName, type ShownGroup } from '../../fleet/index.ts';

export interface Cell {
  readonly column: number;
  /** Members of the group on the node. */
  readonly count: number;
}

export interface Row {
  readonly node: string;
  readonly cordoned: boolean;
  readonly ready: boolean;
  readonly pool: string;
  /** By column. */
  readonly cells: readonly Cell[];
}

export interface Layout {
  readonly rows: readonly Row[];
  readonly columns: readonly ShownGroup[];
}

const POOLS = ['node.kubernetes.io/nodepool', 'cloud.google.com/gke-nodepool', 'eks.amazonaws.com/nodegroup', 'pool'];

export function poolOf({ metadata: { labels } }: Pick<Node, 'metadata'>): string {
  for (const label of POOLS) if (labels?.[label] !== undefined) return labels[label];
  return '';
}

/**
 * Orders nodes and groups so that what belongs together stands together: pools one after the other, in each the nodes
 * group by group, and groups in the order in which their first node comes.
 */
export function layOut(nodes: readonly Node[], groups: readonly ShownGroup[]): Layout {
  const shown = new Map(nodes.map((node) => [node.metadata.name ?? '', node]));
  const sorted = [...groups].sort((a, b) => byName(a.id, b.id));
  const place = new Map<string, number>();
  const pools = [...new Set(nodes.map(poolOf))].sort(byName);
  for (const pool of pools) {
    const inPool = (name: string): boolean => {
      const node = shown.get(name);
      return node !== undefined && poolOf(node) === pool && !place.has(name);
    };
    for (const group of sorted) {
      if (group.single) continue;
      for (const name of [...group.nodes.keys()].filter(inPool).sort(byName)) place.set(name, place.size);
    }
    for (const name of [...shown.keys()].filter(inPool).sort(byName)) place.set(name, place.size);
  }
  const first = (group: ShownGroup): number => {
    let least = Number.POSITIVE_INFINITY;
    for (const name of group.nodes.keys()) least = Math.min(least, place.get(name) ?? Number.POSITIVE_INFINITY);
    return least;
  };
  const columns = sorted
    .map((group) => ({ group, at: first(group) }))
    .filter(({ at, group }) => at < Number.POSITIVE_INFINITY || group.nodes.has(''))
    .sort((a, b) => Number(a.group.single) - Number(b.group.single) || a.at - b.at || byName(a.group.id, b.group.id))
    .map(({ group }) => group);
  const cells = new Map<string, Cell[]>();
  for (const [column, group] of columns.entries()) {
    for (const [node, count] of group.nodes) {
      if (!place.has(node)) continue;
      const row = cells.get(node);
      if (row === undefined) cells.set(node, [{ column, count }]);
      else row.push({ column, count });
    }
  }
  const rows = [...place.keys()].map((name): Row => {
    const node = shown.get(name) as Node;
    const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
    return {
      node: name,
      cordoned: node.spec?.unschedulable === true,
      ready: ready === undefined || ready.status === 'True',
      pool: poolOf(node),
      cells: cells.get(name) ?? [],
    };
  });
  return { rows, columns };
}

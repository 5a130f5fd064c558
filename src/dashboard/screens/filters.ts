/** Which nodes and groups are shown. */
import { signal } from '@preact/signals';
import { matches, parseSelector, type Selector } from '../../machinery/values/index.ts';
import type { Fleet, Mark, ShownGroup } from '../../fleet/index.ts';
import { poolOf } from '../matrix/layout.ts';

export interface Filters {
  readonly text: string;
  readonly namespace: string;
  readonly budget: string;
  readonly pool: string;
  readonly labels: string;
  readonly mark: Mark | '';
}

export const NO_FILTERS: Filters = { text: '', namespace: '', budget: '', pool: '', labels: '', mark: '' };
export const filters = signal<Filters>(NO_FILTERS);

export interface Shown {
  readonly groups: readonly ShownGroup[];
  readonly problem?: string | undefined;
}

export function filterGroups(fleet: Fleet, { budget, labels, mark, namespace, text }: Filters): Shown {
  let selector: Selector | undefined;
  let problem: string | undefined;
  try {
    if (labels !== '') selector = parseSelector(labels);
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  const wanted = text.toLowerCase();
  const [, budgetAt = '', budgetName = ''] = budget.split('/');
  const groups: ShownGroup[] = [];
  for (const group of fleet.groups.all().values()) {
    if (namespace !== '' && group.namespace !== namespace) continue;
    if (mark !== '' && group.mark !== mark) continue;
    if (budget !== '' && !isUnder(fleet, group, budgetAt, budgetName)) continue;
    if (selector !== undefined && !hasLabels(fleet, group, selector)) continue;
    if (wanted !== '' && !isCalled(group, wanted)) continue;
    groups.push(group);
  }
  return { groups, problem };
}

const isCalled = ({ id, nodes }: ShownGroup, wanted: string): boolean =>
  id.toLowerCase().includes(wanted) || [...nodes.keys()].some((node) => node.toLowerCase().includes(wanted));

const isUnder = ({ index }: Fleet, { members, namespace }: ShownGroup, at: string, name: string): boolean =>
  namespace === at && members.some((pod) => index.isSelected(at, name, pod.slice(at.length + 1)));

const hasLabels = ({ pods }: Fleet, { members }: ShownGroup, selector: Selector): boolean =>
  members.some((pod) => matches(selector, pods.get(pod)?.metadata.labels));

/** Nodes in the chosen pool; where groups are filtered, those that hold one of them. */
export function filterNodes(fleet: Fleet, groups: readonly ShownGroup[], { pool, ...rest }: Filters) {
  const narrowed = Object.values(rest).some((value) => value !== '');
  const holding = new Set(narrowed ? groups.flatMap((group) => [...group.nodes.keys()]) : []);
  return fleet
    .shownNodes()
    .filter((node) => (pool === '' || poolOf(node) === pool) && (!narrowed || holding.has(node.metadata.name ?? '')));
}

/** What stories read back from the API, and how they draw it. */
import { podCondition } from '../../api/core/pod-state.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { podType } from '../../api/resource-types.ts';
import type { Client } from '../../machinery/runtime/index.ts';

export async function listPods(client: Client, namespace: string, labelSelector?: string): Promise<Pod[]> {
  return (await client.list(podType, { namespace, labelSelector })).items;
}

export const nameOf = ({ metadata }: Pod): string => metadata.name ?? '';

/** Serves now and is not on its way out. */
export const isUp = (pod: Pod): boolean =>
  !pod.metadata.deletionTimestamp && podCondition(pod, 'Ready')?.status === 'True';

export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

interface Table {
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

/** What `kubectl get` prints for a path, asked for the way kubectl does; some columns, or those it prints by default. */
export async function readTable(client: Client, path: string, columns?: readonly string[]): Promise<string[]> {
  const { columnDefinitions, rows } = await client.request<Table>('GET', path, undefined, { accept: TABLE });
  const shown = columnDefinitions.flatMap(({ name, priority }, at) =>
    (columns === undefined ? priority === 0 : columns.includes(name)) ? [{ name, at }] : [],
  );
  const header = shown.map(({ name }) => name.toUpperCase());
  return alignColumns([header, ...rows.map(({ cells }) => shown.map(({ at }) => String(cells[at])))]);
}

export function alignColumns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const pad = (cell: string, at: number): string => cell.padEnd(widths[at] ?? 0);
  return rows.map((row) => row.map(pad).join('   ').trimEnd());
}

/** Pods by the node they run on, one line for each node. */
export function drawNodes(nodes: readonly string[], pods: readonly Pod[]): string[] {
  return alignColumns(
    nodes.map((node) => {
      const here = pods.filter(({ spec }) => spec?.nodeName === node);
      const drawn = here.map((pod) => `${isUp(pod) ? '●' : '○'} ${nameOf(pod)}`).sort(byName);
      return [node, drawn.length === 0 ? '(empty)' : drawn.join('   ')];
    }),
  );
}

const byName = (a: string, b: string): number => (a.slice(2) < b.slice(2) ? -1 : 1);

export interface GroupState {
  readonly name: string;
  readonly up: number;
  readonly needed: number;
  readonly whole: boolean;
}

/** How many pods of each group serve. */
export function countGroups(
  pods: readonly Pod[],
  groups: Readonly<Record<string, number>>,
  groupOf: (pod: Pod) => string | undefined,
): GroupState[] {
  return Object.entries(groups).map(([name, needed]) => {
    const up = pods.filter((pod) => groupOf(pod) === name && isUp(pod)).length;
    return { name, up, needed, whole: up >= needed };
  });
}

export function drawGroups(groups: readonly GroupState[]): string[] {
  return alignColumns(
    groups.map(({ name, needed, up, whole }) => [
      name,
      '●'.repeat(Math.min(up, needed)) + '○'.repeat(Math.max(needed - up, 0)),
      whole ? 'whole' : `down: ${up} of ${needed} pods serve`,
    ]),
  );
}

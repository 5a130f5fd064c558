/** What a migration reads: all groups, and the numbers of every budget by them. */
import type { KubeObject, ResourceType } from '../../api/resource.ts';
import { podDisruptionBudgetType, podType } from '../../api/resource-types.ts';
import { POD_GROUP_TYPES, SCHEDULING_GROUP, WORKLOAD_TYPES } from '../../api/scheduling/index.ts';
import type { Pod } from '../../api/generated/core-v1.ts';
import { ClusterReader } from '../../cluster-state/index.ts';
import { DisruptionIndex, FED_KINDS } from '../../decisions/disruption/index.ts';
import type { Client } from '../../machinery/runtime/index.ts';
import { deepEqual } from '../../machinery/values/index.ts';
import { MIGRATED_ANNOTATION, type GroupObject } from './twins.ts';

export interface MigrationState {
  /** Workloads first: PodGroups refer to them. */
  readonly native: readonly GroupObject[];
  readonly twins: readonly GroupObject[];
  readonly pods: readonly Pod[];
  /** Everything that budgets depend on, by row of `FED_KINDS`. */
  readonly objects: readonly (readonly KubeObject[])[];
}

/** Throws where something that budgets depend on may not be read. */
export async function readState(client: Client): Promise<MigrationState> {
  const reader = new ClusterReader(client);
  const objects: KubeObject[][] = [];
  for (const { types } of FED_KINDS) objects.push(await reader.listNamed(types));
  reader.assertComplete();
  const of = (types: readonly ResourceType[], native: boolean): GroupObject[] =>
    FED_KINDS.flatMap((row, at) => {
      const isRow = row.types.every((type) => types.includes(type) && (type.group === SCHEDULING_GROUP) === native);
      return isRow ? ((objects[at] ?? []) as GroupObject[]) : [];
    });
  const all = (native: boolean): GroupObject[] => [...of(WORKLOAD_TYPES, native), ...of(POD_GROUP_TYPES, native)];
  const rowOf = (type: { kind: string }): KubeObject[] =>
    objects[FED_KINDS.findIndex(({ kind }) => kind === type.kind)] ?? [];
  return {
    native: all(true),
    twins: all(false).filter(({ metadata }) => metadata.annotations?.[MIGRATED_ANNOTATION] !== undefined),
    pods: rowOf(podType) as Pod[],
    objects,
  };
}

/** What every budget counts. `native` and `own` say whose groups there are. */
export function countBudgets(
  { objects }: MigrationState,
  now: number,
  { native, own }: { readonly native: readonly GroupObject[]; readonly own: readonly GroupObject[] },
): Map<string, object> {
  const index = new DisruptionIndex();
  const budgets: string[] = [];
  FED_KINDS.forEach((row, at) => {
    const isGroup = row.types.some((type) => WORKLOAD_TYPES.includes(type) || POD_GROUP_TYPES.includes(type));
    const isNative = row.types.some(({ group }) => group === SCHEDULING_GROUP);
    const given = isGroup ? (isNative ? native : own).filter(({ kind }) => kind === row.kind) : (objects[at] ?? []);
    for (const object of given) {
      row.set(index, object);
      if (row.kind === podDisruptionBudgetType.kind)
        budgets.push(`${object.metadata.namespace}/${object.metadata.name}`);
    }
  });
  return new Map(
    budgets.map((key) => {
      const [namespace = '', name = ''] = key.split('/');
      const count = index.count(namespace, name, now);
      const { mode, expectedUnits, families, healthy, linked } = count ?? {};
      return [key, { mode, expectedUnits, families, healthy, linked }];
    }),
  );
}

/** Budgets whose numbers would not be the same. */
export function differing(before: ReadonlyMap<string, object>, after: ReadonlyMap<string, object>): string[] {
  return [...before].flatMap(([key, numbers]) => (deepEqual(numbers, after.get(key)) ? [] : key));
}

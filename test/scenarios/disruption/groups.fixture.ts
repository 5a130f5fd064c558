import { Stage, workloadType } from './support.ts';

export interface Group {
  readonly name?: string;
  readonly replicas?: number;
  readonly minCount?: number;
}

export async function workload(stage: Stage, ...groups: Group[]): Promise<void> {
  await stage.plane.client.create(workloadType, {
    metadata: { name: 'w', namespace: 'default' },
    spec: {
      podGroups: groups.map(({ minCount, name = 'g', replicas = 1 }) => ({
        name,
        replicas,
        policy: minCount === undefined ? { basic: {} } : { gang: { minCount } },
      })),
    },
  });
}

export async function member(
  stage: Stage,
  name: string,
  key: string,
  more: { group?: string; ready?: boolean; node?: string; phase?: string; labels?: Record<string, string> } = {},
) {
  const { group = 'g', ...options } = more;
  const workloadRef = { name: 'w', podGroup: group, podGroupReplicaKey: key };
  await stage.pod(name, { ...options, spec: { workloadRef } });
}

export async function units(stage: Stage, count: number, size: number, group = 'g'): Promise<void> {
  for (let unit = 0; unit < count; unit += 1) {
    for (let at = 0; at < size; at += 1) await member(stage, `${group}${unit}p${at}`, String(unit), { group });
  }
  await stage.settle();
}

export const codes = async (stage: Stage, ...names: string[]): Promise<number[]> => {
  const found: number[] = [];
  for (const name of names) found.push((await stage.evict(name)).code);
  return found;
};

import { isFinished, type Maintenance, maintenanceType } from '../../api/quorate/maintenance.ts';
import { ClusterReader } from '../../cluster-state/cluster-reader.ts';
import type { Client } from '../../machinery/runtime/index.ts';

/** What a drain of a node waits for. */
export interface DrainOnNode {
  readonly name: string;
  readonly phase: string;
  /** Who carries it out, where that is not Quorate. */
  readonly driver?: string | undefined;
  readonly deadline?: string | undefined;
  readonly waitsFor: readonly string[];
  readonly blockers: readonly string[];
  /** The ring that it waits in. */
  readonly deadlock?: string | undefined;
}

/** The drains of a node that have not ended; none where Maintenances are not served or may not be read. */
export async function drainsOf(client: Client, node: string): Promise<DrainOnNode[]> {
  const all = await new ClusterReader(client).list([maintenanceType]);
  return all.filter((one) => !isFinished(one) && hasNode(one, node)).map(describeDrain);
}

const hasNode = ({ spec, status }: Maintenance, node: string): boolean =>
  status?.nodes?.some(({ name }) => name === node) ?? spec?.nodes.names?.includes(node) ?? false;

function describeDrain({ metadata, spec, status }: Maintenance): DrainOnNode {
  const said = status?.conditions?.find(({ type }) => type === 'Deadlocked');
  const { deadline, driver } = spec?.source ?? {};
  return {
    name: metadata.name ?? '',
    phase: status?.phase ?? 'Pending',
    ...(driver !== undefined && { driver }),
    ...((deadline ?? spec?.deadline) !== undefined && { deadline: deadline ?? spec?.deadline }),
    waitsFor: status?.waitsFor ?? [],
    blockers: (status?.blockers ?? []).map(({ message, name = '', namespace, reason }) => {
      const where = namespace === undefined ? name : `${namespace}/${name}`;
      return `${where} (${reason}): ${message}`;
    }),
    ...(said?.status === 'True' && { deadlock: said.message }),
  };
}

export function formatDrains(drains: readonly DrainOnNode[]): string[] {
  return drains.flatMap(({ blockers, deadline, deadlock, driver, name, phase, waitsFor }) => [
    '',
    `Drain ${name}: ${phase}${driver === undefined ? '' : `, by ${driver}`}${deadline === undefined ? '' : `, until ${deadline}`}.`,
    ...waitsFor.map((one) => `  waits for ${one}`),
    ...blockers.map((one) => `  in the way: ${one}`),
    ...(deadlock === undefined ? [] : [`  DEADLOCK: ${deadlock}`]),
  ]);
}

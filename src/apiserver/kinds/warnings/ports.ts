/** Ports of a pod's containers that stand in each other's way. */
import type { Container, ContainerPort } from '../../../api/generated/core-v1.ts';
import type { FieldPath } from '../../../machinery/values/index.ts';

/** The containers of a pod by the lists that they are in. */
export type ContainerLists = readonly (readonly [list: string, containers: readonly Container[]])[];

interface Placed {
  readonly port: ContainerPort;
  readonly at: string;
}

export function portWarnings(lists: ContainerLists, path: FieldPath): string[] {
  const placed: Placed[] = [];
  for (const [list, containers] of lists) {
    containers.forEach(({ ports }, container) =>
      ports?.forEach((port, index) => {
        placed.push({ port, at: path.child(list).index(container).child('ports').index(index).toString() });
      }),
    );
  }
  if (placed.length === 0) return [];
  return [...overlaps(placed), ...sameNames(placed)];
}

function overlaps(placed: readonly Placed[]): string[] {
  const warnings: string[] = [];
  const byNumber = new Map<string, Placed[]>();
  for (const one of placed) {
    const { containerPort, hostIP = '', hostPort = 0, protocol = 'TCP' } = one.port;
    if (hostIP !== '' && hostPort === 0) warnings.push(`${one.at}: hostIP set without hostPort: ${shown(one.port)}`);
    const key = `${containerPort}/${protocol}`;
    const others = byNumber.get(key) ?? [];
    for (const other of others) {
      const how = conflict(one.port, other.port);
      if (how !== undefined) warnings.push(`${one.at}: ${how} port definition with ${other.at}`);
    }
    others.push(one);
    byNumber.set(key, others);
  }
  return warnings;
}

function conflict(one: ContainerPort, other: ContainerPort): string | undefined {
  const [ip, otherIp] = [one.hostIP ?? '', other.hostIP ?? ''];
  const [port, otherPort] = [one.hostPort ?? 0, other.hostPort ?? 0];
  if (ip === otherIp && port === otherPort) return 'duplicate';
  if (port === 0 || otherPort === 0) return 'overlapping';
  return port === otherPort && (ip === '') !== (otherIp === '') ? 'dangerously ambiguous' : undefined;
}

/** As Go prints the structure. */
const shown = ({ containerPort, hostIP = '', hostPort = 0, name = '', protocol = 'TCP' }: ContainerPort): string =>
  `{Name:${name} HostPort:${hostPort} ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`;

function sameNames(placed: readonly Placed[]): string[] {
  const first = new Map<string, string>();
  return placed.flatMap(({ at, port: { name = '' } }) => {
    if (name === '') return [];
    const known = first.get(name);
    if (known === undefined) {
      first.set(name, at);
      return [];
    }
    const why = `duplicate port name ${JSON.stringify(name)} with ${known}, services and probes that select ports by name will use ${known}`;
    return [`${at}: ${why}`];
  });
}

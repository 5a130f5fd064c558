import type { Pod } from '../../../api/generated/core-v1.ts';

export interface HostPort {
  readonly ip: string;
  readonly protocol: string;
  readonly port: number;
}

const EVERY_ADDRESS = '0.0.0.0';

/** One list for the many pods that take none. */
const NONE: readonly HostPort[] = [];

export function hostPortsOf({ spec }: Pod): readonly HostPort[] {
  let ports = NONE;
  const sidecars = (spec?.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  for (const container of [...(spec?.containers ?? []), ...sidecars]) {
    for (const { hostIP, hostPort, protocol, containerPort } of container.ports ?? []) {
      const port = hostPort ?? (spec?.hostNetwork === true ? containerPort : 0);
      if (port > 0) ports = [...ports, { ip: hostIP || EVERY_ADDRESS, protocol: protocol ?? 'TCP', port }];
    }
  }
  return ports;
}

/** The host ports taken on one node. The same port on two addresses is two ports, except against every address. */
export class UsedPorts {
  readonly #taken = new Map<string, Map<string, number>>();

  add({ ip, protocol, port }: HostPort): void {
    const key = `${protocol}/${port}`;
    const addresses = this.#taken.get(key) ?? new Map<string, number>();
    addresses.set(ip, (addresses.get(ip) ?? 0) + 1);
    this.#taken.set(key, addresses);
  }

  remove({ ip, protocol, port }: HostPort): void {
    const key = `${protocol}/${port}`;
    const addresses = this.#taken.get(key);
    const left = (addresses?.get(ip) ?? 0) - 1;
    if (addresses === undefined || left < 0) return;
    if (left === 0) addresses.delete(ip);
    else addresses.set(ip, left);
    if (addresses.size === 0) this.#taken.delete(key);
  }

  conflicts({ ip, protocol, port }: HostPort): boolean {
    const addresses = this.#taken.get(`${protocol}/${port}`);
    if (addresses === undefined) return false;
    return ip === EVERY_ADDRESS || addresses.has(EVERY_ADDRESS) || addresses.has(ip);
  }
}

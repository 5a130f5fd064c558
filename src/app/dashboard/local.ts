/** The dashboard for any cluster: a server on loopback that asks the API server with the user's own kubeconfig. */
import { randomBytes } from 'node:crypto';
import { listen } from '../../apiserver/index.ts';
import {
  type Client,
  type Clock,
  isForbidden,
  listAll,
  type Logger,
  type Transport,
} from '../../machinery/runtime/index.ts';
import { builtinType } from '../../api/registry.ts';
import { createDoor } from './door.ts';

export interface LocalDashboardOptions {
  readonly client: Client;
  readonly transport: Transport;
  /** The API server's address, as the kubeconfig has it. */
  readonly server: string;
  /** Who the user is, as the API server or the kubeconfig says. */
  readonly user: string;
  /** The namespace of the kubeconfig's context: there the user may read when nowhere else. */
  readonly namespace: string;
  readonly port: number;
  /** The page may make the changes it offers. */
  readonly writes?: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface LocalDashboard {
  /** A new link that logs a browser in, once. */
  link(): string;
  close(): Promise<void>;
}

const ADDRESS = '127.0.0.1';

export async function serveLocalDashboard(options: LocalDashboardOptions): Promise<LocalDashboard> {
  const { client, clock, log, namespace, port, server, transport, user, writes = false } = options;
  const reader = { id: user, name: user, transport, namespaces: () => readNamespaces(client, namespace) };
  // Browsers send a cookie to every port of a host, but only below its path, which no other server knows.
  const base = `/ui/${randomBytes(9).toString('base64url')}/`;
  const door = createDoor({
    base,
    server: () => server,
    secure: false,
    writes,
    remote: true,
    clock,
    log,
    readerOf: () => reader,
  });
  const listening = await listen({ handle: door.handle, port, address: ADDRESS, log });
  return {
    link: () => `http://${ADDRESS}:${listening.port}${door.loginPath(reader)}`,
    async close() {
      door.close();
      await listening.close();
    },
  };
}

/** Where to look: every namespace, or for whoever may not list them the one of the kubeconfig. */
export async function readNamespaces(client: Client, fallback: string): Promise<readonly string[]> {
  try {
    return (await listAll(client, builtinType('Namespace'), undefined)).map(({ metadata }) => metadata.name ?? '');
  } catch (error) {
    if (isForbidden(error)) return [fallback];
    throw error;
  }
}

/** How the eviction measurements speak to a host: a full client to prepare, and a load that costs next to nothing. */
import { type Client, createClient, createHttpTransport, loadKubeconfig } from '../../src/machinery/runtime/index.ts';
import { keepNode } from './heartbeat.ts';
import { createLoad, type LoadTarget, type Send } from '../control-plane/load.ts';

export const CLIENTS = 32;

export interface HostConnection {
  readonly client: Client;
  readonly send: Send;
  readonly target: LoadTarget;
  close(): void;
}

export async function connectTo(kubeconfig: string): Promise<HostConnection> {
  const access = loadKubeconfig({ path: kubeconfig });
  const { ca, clientCert, clientKey, server, token } = access;
  const bearer = await token?.();
  const target: LoadTarget = {
    server,
    tls: {
      ...(ca !== undefined && { ca }),
      ...(clientCert !== undefined && { cert: clientCert }),
      ...(clientKey !== undefined && { key: clientKey }),
    },
    headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` },
  };
  const transport = createHttpTransport(access);
  const load = createLoad(target, CLIENTS);
  const client = createClient({ transport: transport.send, userAgent: 'bench' });
  const stopHeartbeat = await keepNode(client);
  return {
    client,
    send: load.send,
    target,
    close() {
      stopHeartbeat();
      load.close();
      transport.close();
    },
  };
}

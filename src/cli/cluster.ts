/** The API server a command talks to: that of the kubeconfig, as kubectl would choose it. */
import type { Command } from 'commander';
import {
  type Client,
  createClient,
  createHttpTransport,
  loadKubeconfig,
  type Transport,
} from '../machinery/runtime/index.ts';

export interface ClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: string;
}

export interface Cluster {
  readonly client: Client;
  readonly server: string;
  readonly transport: Transport;
  readonly namespace: string;
  close(): void;
}

export function withClusterFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig to use (default: KUBECONFIG, then ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig');
}

export function openCluster({ context, kubeconfig, namespace }: ClusterFlags): Cluster {
  const access = loadKubeconfig({ path: kubeconfig, context });
  const transport = createHttpTransport(access);
  return {
    client: createClient({ transport: transport.send, userAgent: 'quorate' }),
    server: access.server,
    transport: transport.send,
    namespace: namespace ?? access.namespace,
    close: () => transport.close(),
  };
}

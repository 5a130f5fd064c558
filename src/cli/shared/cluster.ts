/** The API server a command talks to: that of the kubeconfig, as kubectl would choose it. */
import {
  type Client,
  createClient,
  createHttpTransport,
  loadKubeconfig,
  type ServerAccess,
  type Transport,
} from '../../machinery/runtime/index.ts';
import { failWith } from './fail.ts';
import type { ClusterFlags } from './flags.ts';

export interface ClusterConnection {
  readonly client: Client;
  readonly server: string;
  readonly transport: Transport;
  readonly namespace: string;
  close(): void;
}

export function openCluster(flags: ClusterFlags): ClusterConnection {
  const { context, kubeconfig, namespace, requestTimeout } = flags;
  const access = impersonate(loadKubeconfig({ path: kubeconfig, context }), flags);
  const transport = createHttpTransport(access);
  return {
    client: createClient({
      transport: transport.send,
      userAgent: 'quorate',
      ...(requestTimeout === undefined ? {} : { deadlineMs: requestTimeout === 0 ? FOR_EVER_MS : requestTimeout }),
    }),
    server: access.server,
    transport: transport.send,
    namespace: namespace ?? access.namespace,
    close: () => transport.close(),
  };
}

/** Does the work of a command with a connection that is closed afterwards; gives its exit code, and says why it failed. */
export async function withCluster(
  command: string,
  flags: ClusterFlags,
  work: (cluster: ClusterConnection) => Promise<number>,
): Promise<number> {
  try {
    const cluster = openCluster(flags);
    // Waits between two looks must keep the process alive, which timers of the clock on purpose do not.
    const alive = setInterval(() => {}, 60_000);
    try {
      return await work(cluster);
    } finally {
      clearInterval(alive);
      cluster.close();
    }
  } catch (error) {
    return failWith(command, error);
  }
}

/** The longest that a timer can wait: 24 days. */
const FOR_EVER_MS = 2 ** 31 - 1;

function impersonate(access: ServerAccess, { as, asGroup }: ClusterFlags): ServerAccess {
  if (as === undefined) {
    if (asGroup === undefined) return access;
    throw new Error('--as-group needs --as, the user to act as');
  }
  const others = Object.entries(access.headers ?? {}).filter(([name]) => !name.startsWith('impersonate-'));
  const groups = asGroup === undefined ? {} : { 'impersonate-group': asGroup };
  return { ...access, headers: { ...Object.fromEntries(others), 'impersonate-user': [as], ...groups } };
}

import { serveLocalDashboard } from '../../app/index.ts';
import { type Client, isNotFound, systemClock } from '../../machinery/runtime/index.ts';
import { type ClusterConnection, withCluster } from '../shared/cluster.ts';
import type { ClusterFlags } from '../shared/flags.ts';
import { createLogger } from '../shared/logger.ts';
import { watchProcess } from '../shared/process-end.ts';

export interface DashboardFlags extends ClusterFlags {
  readonly port: number;
  readonly link?: boolean;
  readonly allowWrites?: boolean;
}

export async function runDashboard(flags: DashboardFlags): Promise<void> {
  process.exitCode = await withCluster('dashboard', flags, async (cluster) => {
    if (flags.link === true) process.stdout.write(`${await askForLink(cluster)}\n`);
    else await serve(cluster, flags);
    return 0;
  });
}

async function serve(
  { client, namespace, server, transport }: ClusterConnection,
  { allowWrites = false, port }: DashboardFlags,
): Promise<void> {
  const log = createLogger('error', 'text');
  const end = watchProcess('dashboard', log);
  const user = await readUser(client);
  const dashboard = await serveLocalDashboard({
    client,
    transport,
    server,
    user,
    namespace,
    port,
    writes: allowWrites,
    clock: systemClock,
    log,
  });
  const stopped = end.asked();
  process.stdout.write(`
  The dashboard of ${server}, as ${user}. Open this in a browser; the link works once:

    ${dashboard.link()}

  Ctrl-C stops it.
`);
  await stopped;
  await end.stop(() => dashboard.close());
}

/** Who the API server takes us for. Very old servers do not say. */
async function readUser(client: Client): Promise<string> {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  try {
    const review = await client.request<{ status?: { userInfo?: { username?: string } } }>('POST', path, body);
    return review.status?.userInfo?.username ?? 'you';
  } catch (error) {
    if (isNotFound(error)) return 'you';
    throw error;
  }
}

/** Asks a server of ours for a link to its own page. */
async function askForLink({ client, server }: ClusterConnection): Promise<string> {
  const { path } = await client.request<{ path: string }>('POST', '/ui/logins').catch((error: unknown) => {
    if (isNotFound(error)) throw new Error(`${server} serves no dashboard itself; leave --link away to start one`);
    throw error;
  });
  return `${server}${path}`;
}

/** The page that a replica serves where it is asked to, beside its webhook and with none of its rights. */
import { type Clock, createHttpTransport, loadKubeconfig } from '../../machinery/runtime/index.ts';
import { dashboardNames } from '../../webhook/index.ts';
import { type ClusterDashboard, serveClusterDashboard } from '../dashboard/index.ts';
import type { ServingCertificate } from './certificates.ts';
import type { OperatorOptions } from './options.ts';

export async function serveDashboard(
  { bind, context, dashboard, kubeconfig, log, namespace }: OperatorOptions,
  certificate: ServingCertificate,
  clock: Clock,
): Promise<ClusterDashboard | undefined> {
  if (dashboard === undefined) return undefined;
  const { ca, proxy, server, serverName, skipVerify } = loadKubeconfig({ path: kubeconfig, context });
  const http = createHttpTransport({ ca, proxy, server, serverName, skipVerify, namespace });
  const serving = await serveClusterDashboard({
    send: http.send,
    server,
    address: bind,
    port: dashboard.port,
    certificate: certificate.pair,
    names: [...dashboardNames(namespace), ...(dashboard.hosts ?? [])],
    writes: dashboard.writes ?? false,
    clock,
    log,
  });
  return {
    ...serving,
    async close() {
      await serving.close();
      http.close();
    },
  };
}

import { QUORATE_VERSION } from '../../api/version.ts';
import { openCluster } from '../shared/cluster.ts';
import { failWith } from '../shared/fail.ts';
import type { ClusterFlags } from '../shared/flags.ts';
import { formatOutput, type OutputFormat } from '../shared/output.ts';

export interface VersionFlags extends ClusterFlags {
  readonly client: boolean;
  readonly output: OutputFormat;
}

export async function runVersion(flags: VersionFlags): Promise<number> {
  const client = { version: QUORATE_VERSION, node: process.version };
  const print = (server?: { url: string; version: string }): void => {
    const lines = [
      `quorate ${client.version} (Node ${client.node})`,
      ...(server === undefined ? [] : [`API server ${server.version} at ${server.url}`]),
    ];
    process.stdout.write(formatOutput({ client, ...(server && { server }) }, lines, flags.output));
  };
  if (flags.client) {
    print();
    return 0;
  }
  try {
    const cluster = openCluster(flags);
    try {
      const { gitVersion } = await cluster.client.request<{ gitVersion: string }>('GET', '/version');
      print({ url: cluster.server, version: gitVersion });
      return 0;
    } finally {
      cluster.close();
    }
  } catch (error) {
    print();
    return failWith('version', error);
  }
}

/** An embedded host on a free port, in memory, for tests with real clients. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type EmbeddedHost, type PickerOptions, startEmbedded } from '../../src/app/index.ts';
import { silentLogger } from '../../src/machinery/runtime/index.ts';

export async function startHost({
  nodes = 2,
  pickers,
}: {
  nodes?: number;
  pickers?: PickerOptions;
} = {}): Promise<EmbeddedHost> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-client-test-'));
  const host = await startEmbedded({
    port: 0,
    bind: '127.0.0.1',
    kubeconfig: join(folder, 'kubeconfig'),
    nodes,
    pickers,
    log: silentLogger,
  });
  return {
    ...host,
    async stop() {
      await host.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What the administrator's connection takes, for clients that send what no library would. */
export function adminOf(host: EmbeddedHost): { port: number; ca: string; cert: string; key: string } {
  const { clusters, users } = parse(readFileSync(host.kubeconfig, 'utf8')) as {
    clusters: [{ cluster: { 'certificate-authority-data': string } }];
    users: [{ user: Record<'client-certificate-data' | 'client-key-data', string> }];
  };
  const read = (data: string): string => Buffer.from(data, 'base64').toString();
  return {
    port: Number(new URL(host.url).port),
    ca: read(clusters[0].cluster['certificate-authority-data']),
    cert: read(users[0].user['client-certificate-data']),
    key: read(users[0].user['client-key-data']),
  };
}

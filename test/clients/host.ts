/** An embedded host on a free port, in memory, for tests with real clients. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

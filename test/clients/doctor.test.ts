import { expect, test } from 'vitest';
import { diagnose } from '../../src/tasks/index.ts';
import { createClient, createHttpTransport, loadKubeconfig } from '../../src/machinery/runtime/index.ts';
import { startHost } from './host.ts';

test('doctor finds nothing to mend on the embedded host', async () => {
  const host = await startHost({ nodes: 0 });
  const access = loadKubeconfig({ path: host.kubeconfig });
  const transport = createHttpTransport(access);
  try {
    const client = createClient({ transport: transport.send, userAgent: 'test' });
    const { counts, findings } = await diagnose({
      client,
      transport: transport.send,
      server: access.server,
      namespace: 'quorate-system',
      now: Date.now,
    });
    expect(counts).toMatchObject({ fail: 0, warn: 0 });
    expect(findings.filter(({ status }) => status === 'ok').map(({ check }) => check)).toEqual([
      'version',
      'groups',
      'definitions',
      'mode',
      'clocks',
    ]);
  } finally {
    transport.close();
    await host.stop();
  }
});

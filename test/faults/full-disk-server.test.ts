import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openCluster } from '../../src/cli/shared/cluster.ts';
import { ask } from '../shared/answers.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
const MAPS = '/api/v1/namespaces/default/configmaps';
const LIMIT_BLOCKS = 8192; // of 512 bytes: 4 MB
const FAILED_WRITES = Number(process.env['QUORATE_FAILED_WRITES'] ?? 100);

const folder = mkdtempSync(join(tmpdir(), 'quorate-full-server-'));
const kubeconfig = join(folder, 'kubeconfig');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** With the signal ignored, a write past the limit fails as on a full disk. */
async function up(limit: string): Promise<{ child: ChildProcess; ended: Promise<unknown>; text: () => string }> {
  const command = `trap '' XFSZ; ulimit -f ${limit}; exec "$0" --import tsx "$@"`;
  const flags = ['--port', '0', '--api-only', '--data-dir', join(folder, 'data'), '--kubeconfig', kubeconfig];
  const child = spawn('sh', ['-c', command, process.execPath, MAIN, 'up', ...flags]);
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (text += data.toString()));
  await expect.poll(() => text, { timeout: 120_000 }).toContain('export KUBECONFIG=');
  return { child, ended, text: () => text };
}

test.skipIf(process.platform === 'win32')(
  '17.4: a server on a full disk refuses writes with the reason, serves reads, is not ready, and recovers',
  async () => {
    const first = await up(String(LIMIT_BLOCKS));
    const full = openCluster({ kubeconfig });
    const kept: string[] = [];
    let refused = 0;
    for (let at = 0; refused < FAILED_WRITES; at += 1) {
      const data = { text: 'x'.repeat(60_000) };
      const [status, body] = await ask(full, 'POST', MAPS, { metadata: { name: `m${at}` }, data });
      if (status === 201) kept.push(`m${at}`);
      else {
        refused += 1;
        expect([status, JSON.parse(body)]).toMatchObject([500, { kind: 'Status', reason: 'InternalError' }]);
        expect(body).toContain('the disk is full');
      }
    }
    expect(kept.length).toBeGreaterThan(12);
    expect(await ask(full, 'GET', '/readyz')).toEqual([500, expect.stringContaining('[-]storage failed: the disk is')]);
    expect(await ask(full, 'GET', '/livez')).toEqual([200, 'ok']);
    expect((await ask(full, 'GET', `${MAPS}/${kept[0]}`))[0]).toBe(200);

    for (const name of kept.splice(0, 8)) expect((await ask(full, 'DELETE', `${MAPS}/${name}`))[0]).toBe(200);
    expect((await ask(full, 'POST', MAPS, { metadata: { name: 'later' } }))[0]).toBe(201);
    kept.push('later');
    expect(await ask(full, 'GET', '/readyz')).toEqual([200, 'ok']);
    // Said when it began and when it ended, and not with every write in between.
    expect(first.text().match(/writes fail; reads go on/g)?.length ?? 0).toBeLessThan(20);
    full.close();
    first.child.kill('SIGKILL');
    await first.ended;

    const second = await up('unlimited');
    const roomy = openCluster({ kubeconfig });
    const list = JSON.parse((await ask(roomy, 'GET', MAPS))[1]) as { items: { metadata: { name: string } }[] };
    const names = list.items.map(({ metadata }) => metadata.name).filter((name) => name !== 'kube-root-ca.crt');
    expect(names.sort()).toEqual(kept.sort());
    roomy.close();
    second.child.kill('SIGKILL');
    await second.ended;
  },
);

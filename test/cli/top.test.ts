/** What follows a cluster until it is stopped: `top`, and `why` and `plan` with `--watch`, each in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { nodeType, podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import { startHost } from '../clients/host.ts';
import { quorate } from './run.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

let host: EmbeddedHost;
let running: ChildProcess | undefined;

beforeAll(async () => {
  host = await startHost({ nodes: 2 });
  await host.client.create(podDisruptionBudgetType, {
    metadata: { name: 'web', namespace: 'default' },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
  });
  await host.client.create(podType, {
    metadata: { name: 'web', namespace: 'default', labels: { app: 'web' } },
    spec: { nodeName: 'node-0', containers: [{ name: 'web', image: 'web' }] },
  });
});
afterEach(async () => {
  if (running === undefined) return;
  const ended = once(running, 'exit');
  running.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  running = undefined;
});
afterAll(() => host?.stop());

/** Starts a command; the function it returns waits until it has printed something. */
function follow(...args: string[]): (text: string) => Promise<void> {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args, '--kubeconfig', host.kubeconfig], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running = child;
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString('utf8')));
  return (text) => expect.poll(() => printed, { timeout: 60_000 }).toContain(text);
}

const cordon = (unschedulable: boolean): Promise<unknown> =>
  host.client.patch(nodeType, { name: 'node-0' }, { type: 'merge', body: { spec: { unschedulable } } });

test('22.2: top, piped, tells what there is, and then each change', async () => {
  const printed = follow('top');
  await printed('budget default/pdb/web: 1 of 1 healthy, 1 needed, 0 may go\n');
  await cordon(true);
  await printed('drain node-0: 1 left, 0 going, waits for budget web\n');
  await cordon(false);
  await printed('drain node-0: gone\n');
});

test('22.2: top --once prints the screen', async () => {
  const { code, out } = await quorate('top', '--once', '--kubeconfig', host.kubeconfig);
  expect(out).toMatch(/^BUDGET +COUNTS +HEALTHY +NEEDED +ALLOWED +GRANTED$/m);
  expect(out).toMatch(/^default\/pdb\/web +pods +1\/1 +1 +0 +0 +holds back 1 pod$/m);
  expect(code).toBe(0);
});

test('22.2: why --watch answers again when the answer is another', async () => {
  const printed = follow('why', 'pod/web', '--watch');
  await printed('Pod web may not be evicted now: the budget has no room');
  const budget = { namespace: 'default', name: 'web' };
  await host.client.patch(podDisruptionBudgetType, budget, { type: 'merge', body: { spec: { minAvailable: 0 } } });
  await printed('may be evicted now');
});

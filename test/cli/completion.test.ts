/** What Tab offers: asked of the program, by the script that bash loads, and by kubectl of its plugin. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import { pod } from '../../src/testkit/index.ts';
import { startHost } from '../clients/host.ts';
import { findKubectl } from '../clients/kubectl.ts';
import { quorate } from './run.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');
/** Found from any folder. */
const TSX = import.meta.resolve('tsx');

let host: EmbeddedHost;
let folder: string;

beforeAll(async () => {
  host = await startHost({ nodes: 2 });
  folder = mkdtempSync(join(tmpdir(), 'quorate-completion-'));
  for (const name of ['quorate', 'kubectl-quorate', 'kubectl_complete-quorate']) {
    const words = name === 'kubectl_complete-quorate' ? '__complete -- ' : '';
    writeFileSync(join(folder, name), `#!/bin/sh\nexec ${process.execPath} --import ${TSX} ${MAIN} ${words}"$@"\n`);
    chmodSync(join(folder, name), 0o755);
  }
  await host.client.create(podType, pod({ name: 'web-0', namespace: 'kube-public' }));
  await host.client.create(podDisruptionBudgetType, {
    metadata: { name: 'training', namespace: 'default' },
    spec: { maxUnavailable: 1, selector: {} },
  });
  await vi.waitUntil(async () => (await quorateNames('drain', '')).length === 2, { timeout: 30_000, interval: 100 });
}, 120_000);
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await host?.stop();
});

/** Candidates without their descriptions and the last line. */
async function quorateNames(...words: string[]): Promise<string[]> {
  process.env['KUBECONFIG'] = host.kubeconfig;
  const { out } = await quorate('__complete', '--', ...words);
  delete process.env['KUBECONFIG'];
  return out
    .trim()
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t')[0] ?? '');
}

test.each([
  [
    ['drain', 'node-'],
    ['node-0', 'node-1'],
  ],
  [
    ['drain', 'node-0', ''],
    ['node-0', 'node-1'],
  ],
  [['plan', ''], ['drain']],
  [['plan', 'drain', 'node-1'], ['node-1']],
  [
    ['node', 'fail', ''],
    ['node-0', 'node-1'],
  ],
  [
    ['why', 'p'],
    ['pod/', 'pdb/', 'pub/', 'podgroup/'],
  ],
  [['why', 'pdb/'], ['pdb/training']],
  [['-n', 'kube-public', 'why', 'pod/'], ['pod/web-0']],
  [['why', '-n', 'kube-public', 'pod/w'], ['pod/web-0']],
  [['why', 'pod/a', ''], []],
  [
    ['why', '-o', ''],
    ['text', 'wide', 'name', 'json', 'yaml'],
  ],
  [['why', '--output=j'], ['--output=json']],
  [['why', '--namespace=kube-p'], ['--namespace=kube-public']],
  [['-n', 'def'], ['default']],
  [['why', '--context', ''], ['quorate']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish', 'powershell'],
  ],
  [['demo', 'gang'], ['gang-drain']],
  [['why', '--nam'], ['--namespace']],
  [['sna'], ['snapshot']],
])('quorate %j completes to %j', async (words, candidates) => {
  expect(await quorateNames(...words)).toEqual(candidates);
});

test('without a cluster there is nothing to complete, and nothing is said', async () => {
  process.env['KUBECONFIG'] = join(folder, 'none');
  const { code, err, out } = await quorate('__complete', '--', 'drain', '');
  delete process.env['KUBECONFIG'];
  expect({ code, err, out }).toEqual({ code: 0, err: '', out: ':4\n' });
});

/** What bash would put on the line. */
async function tab(line: string): Promise<string[]> {
  const script = `source <(quorate completion bash)
    COMP_LINE=${JSON.stringify(line)}; COMP_POINT=\${#COMP_LINE}
    read -r -a COMP_WORDS <<< "$(sed 's/=/ = /g' <<< "$COMP_LINE")"
    [[ "$COMP_LINE" == *" " || "$COMP_LINE" == *= ]] && COMP_WORDS+=("")
    COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    _quorate; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    cwd: folder,
    env: { ...process.env, KUBECONFIG: host.kubeconfig, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` },
  });
  return stdout.trim().split('\n');
}

test('bash: names, values behind =, and files where files are wanted', async () => {
  expect(await tab('quorate drain node-')).toEqual(['node-0', 'node-1']);
  expect(await tab('quorate why pdb/tr')).toEqual(['pdb/training']);
  expect(await tab('quorate why --output=js')).toEqual(['json']);
  writeFileSync(join(folder, 'budget.yaml'), '');
  expect(await tab('quorate lint budg')).toEqual(['budget.yaml']);
}, 120_000);

test('kubectl quorate completes by the companion that kubectl asks', async () => {
  const { stdout } = await promisify(execFile)(findKubectl(), ['__complete', 'quorate', 'drain', ''], {
    env: { ...process.env, KUBECONFIG: host.kubeconfig, PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` },
  });
  expect(stdout.split('\n').slice(0, 2)).toEqual(['node-0', 'node-1']);
}, 120_000);

/** The command line as somebody types it who knows kubectl, against an embedded host. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EmbeddedHost } from '../../src/app/index.ts';
import { namespaceType, podDisruptionBudgetType, podType } from '../../src/api/resource-types.ts';
import { QUORATE_VERSION } from '../../src/api/version.ts';
import { pod } from '../../src/testkit/index.ts';
import { startHost } from '../clients/host.ts';
import { quorate } from './run.ts';

let host: EmbeddedHost;
let folder: string;

beforeAll(async () => {
  host = await startHost({ nodes: 2 });
  folder = mkdtempSync(join(tmpdir(), 'quorate-terminal-'));
  await host.client.create(namespaceType, { metadata: { name: 'ml' } });
  await host.client.create(podDisruptionBudgetType, {
    metadata: { name: 'training', namespace: 'ml' },
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'train' } } },
  });
  process.env['KUBECONFIG'] = host.kubeconfig;
});
afterAll(async () => {
  delete process.env['KUBECONFIG'];
  rmSync(folder, { recursive: true, force: true });
  await host?.stop();
});

test('evict group in a namespace that is not there names the namespace, not the installation', async () => {
  const { code, err } = await quorate('evict', 'group', 'gang-0', '-n', 'nowhere');
  expect(err).toBe('quorate evict group: there is no namespace "nowhere"; kubectl get namespaces lists them\n');
  expect(code).toBe(1);
});

test('a group of a LeaderWorkerSet can be named SET/VALUE, with its namespace and without', async () => {
  const label = ['--label', 'leaderworkerset.sigs.k8s.io/group-index'];
  for (const words of [
    ['ml/llm/0', ...label],
    ['llm/0', ...label, '-n', 'ml'],
  ]) {
    const { out } = await quorate('evict', 'group', ...words);
    expect(out).toContain('leaderworkerset.sigs.k8s.io/group-index=llm/0');
  }
  const { err } = await quorate('evict', 'group', '0', ...label);
  expect(err).toBe('quorate evict group: cannot read "0": it must be NAMESPACE/SET/VALUE or SET/VALUE\n');
});

test('-n is understood before the command and after it, and what stands after wins', async () => {
  const asked = [
    ['-n', 'ml', 'why', 'pdb/training'],
    ['why', 'pdb/training', '-n', 'ml'],
    ['-n', 'nowhere', 'why', 'pdb/training', '-n', 'ml'],
  ];
  for (const words of asked) expect((await quorate(...words)).out).toContain('training');
  expect((await quorate('-n', 'ml', 'plan', 'drain', '--all')).err).toContain(
    'error: --namespace means nothing to quorate drain',
  );
});

test('--as asks with the rights of another user', async () => {
  const { code, err } = await quorate('why', 'pdb/training', '-n', 'ml', '--as', 'nobody');
  expect(err).toMatch(/^quorate why: cannot tell: not allowed to list /);
  expect(err).toContain('To see what you may read: kubectl auth can-i list ');
  expect(code).toBe(6);
  const masters = await quorate('why', 'pdb/training', '-n', 'ml', '--as', 'nobody', '--as-group', 'system:masters');
  expect(masters.out).toContain('training');
  expect((await quorate('why', '--as-group', 'system:masters')).err).toContain('--as-group needs --as');
});

test('plan drain: --all beside names is refused, and one node is not compared with itself', async () => {
  const both = await quorate('plan', 'drain', '--all', 'node-0');
  expect(both.err).toContain('--all is every node');
  expect(both.code).toBe(1);
  const one = await quorate('plan', 'drain', 'node-0');
  expect(one.out).not.toContain('node after node');
  expect((await quorate('plan', 'drain')).err).toContain(
    'name nodes, select them with -l, or take every node with --all',
  );
});

test('SM-10 simulate draws into .svg, .png and .html files only', async () => {
  const { code, err } = await quorate('simulate', 'snapshot.json', '--upgrade', '--out', 'x.gif');
  expect(err).toContain('It must end in .svg or .png for a picture, or in .html for a report');
  expect(code).toBe(1);
});

test('drain --dry-run: bare, client and server, with the node before or after', async () => {
  for (const words of [
    ['--dry-run', 'node-0'],
    ['node-0', '--dry-run=client'],
    ['node-0', '--dry-run=server'],
  ]) {
    const { code, out } = await quorate('drain', ...words);
    expect(out).toContain('Every pod can be evicted now (node-0).');
    expect(code).toBe(0);
  }
  expect((await quorate('drain', 'node-0', '--dry-run=maybe')).err).toContain('It must be client, server or none.');
});

test('an API server that is not there: the error names the next command', async () => {
  const path = join(folder, 'gone');
  writeFileSync(
    path,
    'clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]\ncontexts: [{name: c, context: {cluster: c}}]\ncurrent-context: c\n',
  );
  const { err } = await quorate('why', '--kubeconfig', path);
  expect(err).toContain('nothing listens there (ECONNREFUSED)');
  expect(err).toContain('To start a control plane: quorate up');
});

test('version says both versions, and its own where no server answers', async () => {
  const both = await quorate('version');
  expect(both.out).toMatch(/^quorate \d\S* \(Node v\d\S*\)\nAPI server v\d\S* at https:\/\/127\.0\.0\.1:\d+\n$/);
  expect(both.code).toBe(0);
  expect((await quorate('version', '--client')).out).toMatch(/^quorate [^\n]*\n$/);
  const alone = await quorate('version', '--kubeconfig', join(folder, 'none'), '-o', 'json');
  expect(Object.keys(JSON.parse(alone.out) as object)).toEqual(['client']);
  expect(alone.code).toBe(1);
});

test('-o wide, name and jsonpath list budgets as kubectl get lists objects', async () => {
  await host.client.create(podType, pod({ name: 'train-0', namespace: 'ml', labels: { app: 'train' } }));
  const ask = (format: string, ...words: string[]) => quorate('why', ...words, '-n', 'ml', '-o', format);
  expect((await ask('name')).out).toBe('poddisruptionbudget.policy/training\n');
  expect((await ask('jsonpath={range .budgets[*]}{.namespace}/{.budget.name}{"\\n"}{end}')).out).toBe('ml/training\n');
  const [head = '', row = ''] = (await ask('wide')).out.split('\n');
  expect(head).toMatch(/^NAMESPACE +NAME +COUNTS +PODS +EXPECTED +HEALTHY +NEEDED +ALLOWED$/);
  expect(row).toMatch(/^ml +pdb\/training +Pod +1 /);
  expect((await ask('wide', 'pdb/training')).err).toBe('quorate why: -o wide lists budgets: leave out pdb/training\n');
  expect((await ask('jsonpath={.budgets[')).err).toContain('Cannot read the template: a { that has no other half.');
  expect((await ask('moon')).err).toContain('Allowed choices are text, wide, name, json, yaml, jsonpath=TEMPLATE.');
  expect((await quorate('version', '-o', 'jsonpath={.client.version}')).out).toBe(QUORATE_VERSION);
});

test('22.2: -l lists budgets with labels and drains nodes with labels, and goes with no name', async () => {
  const { out } = await quorate('why', '-n', 'ml', '-l', 'team=none', '-o', 'name');
  expect(out).toBe('');
  await host.client.patch(
    podDisruptionBudgetType,
    { name: 'training', namespace: 'ml' },
    { type: 'merge', body: { metadata: { labels: { team: 'ml' } } } },
  );
  expect((await quorate('why', '-A', '-l', 'team=ml', '-o', 'name')).out).toBe('poddisruptionbudget.policy/training\n');
  expect((await quorate('why', 'pdb/training', '-l', 'team=ml')).err).toContain('leave out pdb/training');
  const drained = await quorate('drain', '-l', 'kubernetes.io/hostname=node-0', '--dry-run');
  expect(drained.out).toMatch(/\(node-0\)\.$/m);
  expect((await quorate('drain', '-l', 'pool=none', '--dry-run')).err).toContain('no node has the labels pool=none');
  expect((await quorate('drain', 'node-0', '-l', 'pool=none')).err).toContain('one of these only');
});

test('drain goes by a Maintenance, which stays to be looked at', async () => {
  const { code, err, out } = await quorate('drain', 'node-1');
  expect({ code, out }).toEqual({ code: 0, out: 'Drained (node-1).\n' });
  const name = /^maintenance (drain-\S+) created/.exec(err)?.[1] ?? '';
  expect((await quorate('maintenance', 'list')).out).toContain(name);
});

/** Upgrade in place and removal: what an older version left is kept where it must be, and nothing stays at the end. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHART } from '../../scripts/chart.ts';
import { type Operator, uninstall } from '../../src/app/index.ts';
import { createClient, createHttpTransport, loadKubeconfig } from '../../src/machinery/runtime/index.ts';
import type { KubeObject } from '../../src/api/resource.ts';
import { defaultInstall, definitions, installObjects, webhookConfigurations } from '../../src/webhook/index.ts';
import { findHelm } from '../clients/kubectl.ts';
import { chosenMinor } from '../kubernetes/binaries.ts';
import { type RealControlPlane, startRealControlPlane } from '../kubernetes/control-plane.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let operator: Operator | undefined;
const { NAMESPACE, until } = stage;
const kubectl = (...args: string[]): Promise<string> => stage.kubectl(plane, ...args);
const helm = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)(findHelm(), ['--kubeconfig', plane.kubeconfig, ...args])).stdout;

beforeAll(async () => {
  plane = await startRealControlPlane({ minor: chosenMinor(), components: ['kube-controller-manager'] });
});
afterAll(async () => {
  await operator?.stop();
  await plane?.stop();
});

const KINDS =
  'deployments,services,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,mutatingwebhookconfigurations,validatingwebhookconfigurations,customresourcedefinitions,namespaces,poddisruptionbudgets';
const ours = async (): Promise<string> =>
  (await kubectl('get', KINDS, '-A', '-l', 'app.kubernetes.io/name=quorate', '-o', 'name')).trim();

/** An installation as it was when there were fewer kinds, columns and rights. */
function olderObjects(): object[] {
  const newer = new Set(['groupevictions.policy.quorate.dev', 'downscalepodpickers.policy.quorate.dev']);
  const [, filled] = webhookConfigurations(defaultInstall);
  // They were installed filled.
  const objects = [...installObjects(defaultInstall).filter(({ kind }) => kind !== filled?.kind), filled as KubeObject];
  return objects
    .filter(({ metadata }) => !newer.has(metadata.name ?? ''))
    .map((object) => {
      const copy = structuredClone(object) as {
        kind?: string;
        rules?: unknown[] | undefined;
      };
      if (copy.kind === 'ClusterRole') copy.rules = copy.rules?.slice(0, 8);
      return copy;
    });
}

test('newer manifests over older ones keep ledgers and grants, and end up as if installed anew', async () => {
  await stage.apply(plane, ...olderObjects());
  await until('ledgers to be served', async () => (await kubectl('get', 'disruptionledgers', '-A')) !== undefined);
  const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  await stage.apply(plane, {
    apiVersion: 'policy.quorate.dev/v1alpha1',
    kind: 'DisruptionLedger',
    metadata: { name: 'training', namespace: 'default' },
  });
  const status = JSON.stringify({
    status: { disruptionsAllowed: 1, currentHealthy: 3, disruptedPods: { 'g0-0': at } },
  });
  const patch = ['disruptionledger', 'training', '--subresource=status', '--type=merge', '-p', status];
  await kubectl('patch', ...patch);
  await stage.apply(plane, ...installObjects(defaultInstall));
  const kept = JSON.parse(await kubectl('get', 'disruptionledger', 'training', '-o', 'json')) as { status: object };
  expect(kept.status).toMatchObject({ disruptionsAllowed: 1, disruptedPods: { 'g0-0': at } });
  const configurations = 'mutatingwebhookconfigurations,validatingwebhookconfigurations';
  const webhooks = await kubectl('get', configurations, '-o', 'jsonpath={.items[*].webhooks[*].name}');
  // Until a replica of the new version is there to answer nothing is asked.
  expect(webhooks).toBe('');
  for (const { metadata } of definitions())
    expect(await kubectl('get', 'crd', metadata.name ?? '')).toContain(metadata.name);
  await until('the new kinds', async () => (await kubectl('get', 'groupevictions', '-A')) !== undefined);
  operator = await stage.startReplica(plane, 'newer', 'alongside');
  await until('the newer version to lead', () => operator?.isLeading() === true);
  await operator.stop();
  operator = undefined;
});

test('uninstall leaves nothing behind, not even what the operator made itself', async () => {
  expect(await kubectl('get', 'secret', 'quorate-webhook-tls', '-n', NAMESPACE, '-o', 'name')).toContain('secret/');
  const transport = createHttpTransport(loadKubeconfig({ path: plane.kubeconfig }));
  const client = createClient({ transport: transport.send, userAgent: 'test' });
  await uninstall(client, { namespace: NAMESPACE, keepDefinitions: false, removed: () => {} });
  transport.close();
  await until('everything of ours to be gone', async () => (await ours()) === '');
  const left = await kubectl('get', 'secrets,leases', '-A', '-o', 'name');
  expect(left.includes('quorate')).toBe(false);
});

test('the real helm installs, upgrades and removes the chart; the definitions stay', async () => {
  await helm('install', 'quorate', CHART, '--namespace', NAMESPACE, '--create-namespace');
  expect(await ours()).toContain('deployment.apps/quorate');
  await helm('upgrade', 'quorate', CHART, '--namespace', NAMESPACE, '--set', 'mode=replace,replicas=3');
  const shape = 'jsonpath={.spec.replicas} {.spec.template.spec.containers[0].args[1]}';
  expect(await kubectl('get', 'deployment', 'quorate', '-n', NAMESPACE, '-o', shape)).toBe('3 --mode=replace');
  await helm('uninstall', 'quorate', '--namespace', NAMESPACE, '--wait');
  await until('all but the definitions to be gone', async () =>
    (await ours()).split('\n').every((name) => name.startsWith('customresourcedefinition')),
  );
  expect((await ours()).split('\n')).toHaveLength(definitions().length);
});

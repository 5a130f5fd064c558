/** Whose reviews a replica believes, on a real API server: by its certificate, or by the secret path it was given. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { Operator } from '../../src/app/index.ts';
import { createAuthority, issueClient } from '../../src/machinery/runtime/certificates.ts';
import { webhookConfigurations } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane | undefined;
let operator: Operator | undefined;
const folders: string[] = [];
afterEach(async () => {
  await operator?.stop();
  await plane?.stop();
  operator = undefined;
  plane = undefined;
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Asks as somebody who is not the API server. */
function ask({ authority, webhookPort }: Operator, path: string): Promise<number> {
  const body = JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: {} });
  const headers = { 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const call = request(
      { host: '127.0.0.1', port: webhookPort, path, method: 'POST', headers, ca: authority, agent: false },
      (response) => resolve(response.resume().statusCode ?? 0),
    );
    call.on('error', reject);
    call.end(body);
  });
}

test('17.9: WS-12 an API server with a certificate of its own is believed, nobody else is', async () => {
  const now = Date.now();
  const authority = await createAuthority('api-servers', { now, days: 1 });
  const client = await issueClient(authority, { commonName: 'kube-apiserver' }, { now, days: 1 });
  const folder = mkdtempSync(join(tmpdir(), 'quorate-admission-'));
  folders.push(folder);
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const kubeConfigFile = file(
    'webhooks.kubeconfig',
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      users: [
        {
          name: '*',
          user: {
            'client-certificate': file('client.crt', client.certificate),
            'client-key': file('client.key', client.key),
          },
        },
      ],
    }),
  );
  const config = file(
    'admission.yaml',
    stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: ['ValidatingAdmissionWebhook', 'MutatingAdmissionWebhook'].map((name) => ({
        name,
        configuration: {
          apiVersion: 'apiserver.config.k8s.io/v1',
          kind: 'WebhookAdmissionConfiguration',
          kubeConfigFile,
        },
      })),
    }),
  );
  plane = await stage.startPlane({
    components: ['kube-controller-manager'],
    flags: { 'kube-apiserver': [`--admission-control-config-file=${config}`] },
  });
  await stage.prepareCluster(plane);
  const clients = { authority: authority.certificate, names: ['kube-apiserver'] };
  operator = await stage.startReplica(plane, 'one', 'alongside', { clients });
  await stage.registerWebhooks(plane, operator);
  expect(await ask(operator, '/validate-budgets')).toBe(404);
});

test('17.9: the secret path is filled in at once and again, and survives manifests that are applied anew', async () => {
  const running = await stage.startPlane({ components: ['kube-controller-manager'] });
  plane = running;
  await stage.prepareCluster(running);
  operator = await stage.startReplica(running, 'one', 'alongside');
  const { reviewPath } = operator;
  const paths = async (field: string): Promise<string[]> => {
    const jsonpath = `jsonpath={.webhooks[*].clientConfig.${field}}`;
    return (await stage.kubectl(running, 'get', 'validatingwebhookconfiguration', 'quorate', '-o', jsonpath)).split(
      ' ',
    );
  };
  const manifests = webhookConfigurations({ namespace: stage.NAMESPACE, failOpen: true, certManager: false });
  await stage.apply(running, ...manifests);
  const want = expect.arrayContaining([reviewPath('/validate-pods'), reviewPath('/pick-downscale')]) as string[];
  await stage.until('the path to be filled in', async () => (await paths('service.path')).length > 1);
  const filled = await paths('service.path');
  expect(filled).toEqual(want);
  await stage.apply(running, ...manifests);
  expect(await paths('service.path')).toEqual(filled);
  await stage.kubectl(running, 'delete', 'validatingwebhookconfiguration', 'quorate');
  await stage.kubectl(running, 'delete', 'mutatingwebhookconfiguration', 'quorate-evictions');
  await stage.registerWebhooks(running, operator);
  expect((await paths('url')).every((url) => /\/[0-9a-f]{64}\/[a-z-]+$/.test(url))).toBe(true);
  expect(await ask(operator, '/validate-budgets')).toBe(404);
  expect(await ask(operator, reviewPath('/validate-budgets'))).toBe(400);
});

/** Who reads the operator's metrics on a real cluster; the operator has no more than the rights that the manifests give. */
import { request } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Operator } from '../../src/app/index.ts';
import { defaultInstall, installObjects, METRICS_READER } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let operator: Operator;

beforeAll(async () => {
  plane = await stage.startPlane({ components: ['kube-controller-manager'] });
  await stage.prepareCluster(plane);
  const access = /^(ServiceAccount|(Cluster)?Role(Binding)?)$/;
  await stage.apply(plane, ...installObjects(defaultInstall).filter(({ kind = '' }) => access.test(kind)));
  const kubeconfig = await stage.accountKubeconfig(plane, 'quorate', [
    ...stage.OPERATOR_RIGHTS,
    ['create', 'tokenreviews.authentication.k8s.io'],
  ]);
  operator = await stage.startReplica(plane, 'one', 'alongside', { kubeconfig });
});
afterAll(async () => {
  await operator?.stop();
  await plane?.stop();
});

function read(token?: string): Promise<{ status: number; text: string }> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    request(
      {
        host: '127.0.0.1',
        port: operator.metricsPort,
        path: '/metrics',
        headers,
        ca: operator.authority,
        agent: false,
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    )
      .on('error', reject)
      .end();
  });
}

test('17.15: HL-04 /metrics without a token is 401, without the right 403, and with both the page', async () => {
  expect((await read()).status).toBe(401);
  expect((await read('forged')).status).toBe(401);
  await stage.kubectl(plane, 'create', 'serviceaccount', 'prometheus');
  const token = (await stage.kubectl(plane, 'create', 'token', 'prometheus')).trim();
  expect((await read(token)).status).toBe(403);
  await stage.kubectl(
    plane,
    'create',
    'clusterrolebinding',
    'prometheus',
    `--clusterrole=${METRICS_READER}`,
    '--serviceaccount=default:prometheus',
  );
  await stage.until('the right to count', async () => (await read(token)).status === 200);
  expect((await read(token)).text).toContain('quorate_reviews_rejected_total');
});

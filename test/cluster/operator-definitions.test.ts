/** A definition that is deleted and applied again under a running replica: it says so, and comes back by itself. */
import { request } from 'node:https';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Operator } from '../../src/app/index.ts';
import { definitions } from '../../src/webhook/index.ts';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import * as stage from './stage.ts';

let plane: RealControlPlane;
let operator: Operator;

beforeAll(async () => {
  plane = await stage.startPlane({ components: ['kube-controller-manager'] });
  await stage.prepareCluster(plane);
  operator = await stage.startReplica(plane, 'one', 'alongside');
});
afterAll(async () => {
  await operator?.stop();
  await plane?.stop();
});

function readyz(): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: operator.webhookPort, path: '/readyz', ca: operator.authority };
    request({ ...options, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    })
      .on('error', reject)
      .end();
  });
}

test('18.6: a definition that is deleted makes a replica unready, which names it; applied again it is followed again', async () => {
  await stage.until('ready', async () => (await readyz()).text === 'ok\n');
  await stage.kubectl(plane, 'delete', 'crd', 'disruptionledgers.policy.quorate.dev');
  await stage.until('not ready', async () => (await readyz()).status === 503);
  expect((await readyz()).text).toBe('[-]caches: disruptionledgers.policy.quorate.dev not served by the API server\n');
  const [again] = definitions().filter(({ metadata }) => metadata.name === 'disruptionledgers.policy.quorate.dev');
  await stage.apply(plane, again as object);
  await stage.until('ready again', async () => (await readyz()).status === 200);
});

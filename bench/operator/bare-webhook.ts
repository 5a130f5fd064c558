/** A webhook on evictions that admits everything: what the API server waits for it is what any webhook costs here. */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ValidatingWebhookConfiguration } from '../../src/api/generated/admissionregistration-v1.ts';

/** On namespaces whose evictions go to the bare webhook. */
export const BARE_LABEL = 'bench.quorate.dev/bare';
export const BARE_WEBHOOK = 'bare.quorate.dev';

export interface BareWebhook {
  readonly port: number;
  close(): void;
}

export async function startBareWebhook(pair: { cert: string; key: string }): Promise<BareWebhook> {
  const server = createServer(pair, (request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    request.once('end', () => {
      const uid = /"uid":"([^"]+)"/.exec(text)?.[1];
      const review = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } };
      const body = JSON.stringify(review);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

export function bareConfiguration(port: number, caBundle: string): ValidatingWebhookConfiguration {
  return {
    metadata: { name: 'bare' },
    webhooks: [
      {
        name: BARE_WEBHOOK,
        clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(caBundle).toString('base64') },
        rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/eviction'] }],
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        namespaceSelector: { matchLabels: { [BARE_LABEL]: 'true' } },
      },
    ],
  };
}

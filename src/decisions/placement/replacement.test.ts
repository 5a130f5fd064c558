import { expect, test } from 'vitest';
import type { Pod } from '../../api/generated/core-v1.ts';
import { sumRequests } from './cluster/resources.ts';
import { replacementOf } from './replacement.ts';

const pod = (requests: Record<string, string>): Pod => ({
  metadata: { name: 'web', namespace: 'default', uid: 'u' },
  spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'x', resources: { requests } }] },
});

const template = (resources: object) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'main', image: 'x', resources }] },
});

test('FT-15: what was resized in place comes back as its template has it', () => {
  const again = replacementOf(pod({ cpu: '4' }), template({ requests: { cpu: '1' } }));
  expect(sumRequests(again).get('cpu')).toBe(1000);
  expect(again.spec?.nodeName).toBeUndefined();
});

test('FT-15: a limit without a request is what the replacement asks for', () => {
  const again = replacementOf(pod({ cpu: '1' }), template({ limits: { 'nvidia.com/gpu': '2' } }));
  expect(sumRequests(again).get('nvidia.com/gpu')).toBe(2);
});

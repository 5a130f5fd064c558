import { expect, test } from 'vitest';
import type { KubeObject } from '../../api/resource.ts';
import { SNAPSHOT_KINDS } from './kinds.ts';
import { keepListed } from './keep.ts';

const SECRET = 'hunter2';
const http = {
  host: 'picker.example',
  port: 80,
  path: `/pick?token=${SECRET}`,
  httpHeaders: [{ name: 'Authorization', value: `Bearer ${SECRET}` }],
};
const template = {
  metadata: { labels: { app: 'a' }, annotations: { note: SECRET } },
  spec: {
    nodeSelector: { pool: 'gpu' },
    containers: [
      {
        name: 'c',
        image: 'i',
        env: [{ name: 'PASSWORD', value: SECRET }],
        args: [SECRET],
        readinessProbe: { initialDelaySeconds: 3, httpGet: { path: `/?${SECRET}`, port: 80 } },
        lifecycle: { preStop: { exec: { command: [SECRET] }, sleep: { seconds: 2 } } },
      },
    ],
    volumes: [{ name: 'v', configMap: { name: SECRET } }],
    hostAliases: [{ ip: SECRET }],
  },
};

test.each(['ReplicaSet', 'Deployment'])('17.13: a %s is in a snapshot without its picker', (kind) => {
  const kept = keepListed(kind, {
    metadata: { name: 'web' },
    spec: { replicas: 2, selector: { matchLabels: { app: 'a' } }, template, downscalePodPicker: { http } },
  } as KubeObject);
  expect(JSON.stringify(kept)).not.toContain(SECRET);
  expect(kept).toEqual({
    kind,
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'a' } },
      template: {
        metadata: { labels: { app: 'a' } },
        spec: {
          nodeSelector: { pool: 'gpu' },
          containers: [
            {
              name: 'c',
              image: 'i',
              readinessProbe: { tcpSocket: { port: 1 }, initialDelaySeconds: 3 },
              lifecycle: { preStop: { sleep: { seconds: 2 } } },
            },
          ],
        },
      },
    },
  });
});

test('17.13: a field that nobody has listed is not in a snapshot, of no kind and at no depth', () => {
  const stuffed = { added: SECRET, nested: { added: SECRET }, list: [{ added: SECRET }] };
  for (const { name } of SNAPSHOT_KINDS) {
    const spec = {
      ...stuffed,
      template: { ...template, ...stuffed, spec: { ...template.spec, ...stuffed } },
      jobTemplate: { metadata: stuffed, spec: { ...stuffed, template } },
      leaderWorkerTemplate: { ...stuffed, size: 2, leaderTemplate: template, workerTemplate: template },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, ...stuffed }, ...stuffed },
      volumeClaimTemplates: [stuffed],
      podFailurePolicy: stuffed,
      ...(name === 'Pod' ? template.spec : {}),
    };
    const conditions = [{ type: 'Ready', status: 'True', message: SECRET, ...stuffed }];
    const kept = keepListed(name, {
      metadata: { name: 'x', annotations: { note: SECRET }, managedFields: [stuffed], ...stuffed },
      ...stuffed,
      spec,
      status: { ...stuffed, conditions, images: [stuffed] },
    } as unknown as KubeObject);
    expect(JSON.stringify(kept), name).not.toContain(SECRET);
  }
});

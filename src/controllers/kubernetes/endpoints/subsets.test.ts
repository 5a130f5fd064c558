import { expect, test } from 'vitest';
import type { Pod, Service } from '../../../api/generated/core-v1.ts';
import { computeSubsets } from './subsets.ts';

const service = (spec: Service['spec'] = {}): Service => ({
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    clusterIP: '10.1.0.1',
    ipFamilies: ['IPv4'],
    selector: { app: 'web' },
    ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
    ...spec,
  },
});
const pod = (
  name: string,
  over: { ready?: boolean; ip?: string; port?: number; phase?: string; deleting?: boolean } = {},
): Pod => ({
  metadata: {
    name,
    namespace: 'default',
    uid: name,
    ...(over.deleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  },
  spec: {
    nodeName: 'n1',
    containers: [{ name: 'c', ports: [{ name: 'http', containerPort: over.port ?? 8080, protocol: 'TCP' }] }],
  },
  status: {
    phase: over.phase ?? 'Running',
    podIPs: over.ip === '' ? [] : [{ ip: over.ip ?? `10.0.0.${name}` }],
    conditions: [{ type: 'Ready', status: over.ready === false ? 'False' : 'True' }],
  },
});
const show = (given: Service, pods: Pod[]) =>
  computeSubsets(given, pods).subsets.map(({ addresses = [], notReadyAddresses = [], ports = [] }) => ({
    ready: addresses.map(({ targetRef }) => targetRef?.name),
    others: notReadyAddresses.map(({ targetRef }) => targetRef?.name),
    ports: ports.map(({ name, port }) => `${name}:${port}`),
  }));

test('computeSubsets() puts ready and unready pods of the same ports in one subset, sorted', () => {
  expect(show(service(), [pod('3'), pod('1'), pod('2', { ready: false })])).toEqual([
    { ready: ['1', '3'], others: ['2'], ports: ['http:8080'] },
  ]);
});

test('computeSubsets() separates pods whose named port differs and leaves out those without it', () => {
  const lacking = pod('3');
  lacking.spec = { ...lacking.spec, containers: [{ name: 'c' }] };
  expect(show(service(), [pod('1'), pod('2', { port: 9090 }), lacking])).toEqual([
    { ready: ['1'], others: [], ports: ['http:8080'] },
    { ready: ['2'], others: [], ports: ['http:9090'] },
  ]);
});

test('computeSubsets() leaves out finished and terminating pods and those without address or of another family', () => {
  const pods = [
    pod('1', { phase: 'Succeeded' }),
    pod('2', { deleting: true }),
    pod('3', { ip: '' }),
    pod('4', { ip: 'fd00::4' }),
    pod('5'),
  ];
  expect(show(service(), pods)).toEqual([{ ready: ['5'], others: [], ports: ['http:8080'] }]);
});

test('computeSubsets() shows unready and terminating pods as ready when the service wants them', () => {
  const pods = [pod('1', { ready: false }), pod('2', { deleting: true })];
  expect(show(service({ publishNotReadyAddresses: true }), pods)).toEqual([
    { ready: ['1', '2'], others: [], ports: ['http:8080'] },
  ]);
});

test('computeSubsets() gives a headless service without ports its addresses, another one nothing', () => {
  expect(show(service({ clusterIP: 'None', ports: [] }), [pod('1')])).toEqual([
    { ready: ['1'], others: [], ports: [] },
  ]);
  expect(show(service({ ports: [] }), [pod('1')])).toEqual([]);
});

test('computeSubsets() keeps a thousand addresses, ready ones first, and says so', () => {
  const pods = Array.from({ length: 1200 }, (_, at) =>
    pod(String(at), { ip: `10.0.${at >> 8}.${at & 255}`, ready: at % 2 === 0 }),
  );
  const { subsets, truncated } = computeSubsets(service(), pods);
  expect(truncated).toBe(true);
  expect([subsets[0]?.addresses?.length, subsets[0]?.notReadyAddresses?.length]).toEqual([600, 400]);
});

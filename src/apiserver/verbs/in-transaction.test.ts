import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../testkit/index.ts';
import type { AdmissionPlugin } from '../context/admission-plugin.ts';
import { APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH } from './patch.ts';

interface Shown {
  metadata: { resourceVersion: string; annotations?: Record<string, string> };
  spec: Record<string, unknown> & { ports: { nodePort?: number }[]; clusterIP?: string };
}

/** Gives every Service a new number with every write, as the allocators give addresses and ports. */
function numbering(): AdmissionPlugin {
  let last = 0;
  return {
    name: 'Numbering',
    handles: ({ resource, operation }) => resource.plural === 'services' && operation !== 'DELETE',
    inTransaction({ object }) {
      last += 1;
      if (object === undefined) return;
      object.metadata.annotations = { ...object.metadata.annotations, number: String(last) };
    },
  };
}

let plane: ControlPlane;
beforeAll(async () => {
  plane = await startControlPlane({
    extend: (context) => (context.admission as AdmissionPlugin[]).push(numbering()),
  });
});
afterAll(() => plane.stop());

const SERVICES = '/api/v1/namespaces/default/services';
const ports = [{ name: 'http', port: 80, targetPort: 80, protocol: 'TCP' }];
const service = (name: string, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: 'a' }, ports, ...spec },
});
const send = (method: string, path: string, body: object, type = 'application/json'): Promise<Shown> =>
  plane.client.request<Shown>(method, `${SERVICES}${path}`, body, { 'content-type': type });
const read = (name: string): Promise<Shown> => plane.client.request<Shown>('GET', `${SERVICES}/${name}`);

/** Every way to write an object; each changes something, so that it is written. */
const ways: [way: string, write: (name: string, change: object) => Promise<Shown>][] = [
  ['update', async (name, change) => send('PUT', `/${name}`, { ...service(name, change) })],
  ['merge patch', (name, spec) => send('PATCH', `/${name}`, { spec }, MERGE_PATCH)],
  ['strategic merge patch', (name, spec) => send('PATCH', `/${name}`, { spec }, STRATEGIC_PATCH)],
  [
    'JSON patch',
    (name, spec) => {
      const operations = Object.entries(spec).map(([key, value]) => ({ op: 'add', path: `/spec/${key}`, value }));
      return send('PATCH', `/${name}`, operations, JSON_PATCH);
    },
  ],
  ['apply', (name, change) => send('PATCH', `/${name}?fieldManager=me&force=true`, service(name, change), APPLY_PATCH)],
];

describe('18.16: what an inTransaction step changes survives', () => {
  it('create', async () => {
    const made = await send('POST', '', service('made'));
    expect(made.metadata.annotations?.['number']).toBeDefined();
    expect((await read('made')).metadata.annotations).toEqual(made.metadata.annotations);
  });

  it('apply to a new name', async () => {
    const made = await send('PATCH', '/applied?fieldManager=me', service('applied'), APPLY_PATCH);
    expect(made.metadata.annotations?.['number']).toBeDefined();
  });

  it.each([...ways, ...statusWays()])('%s', async (way, write) => {
    const name = `s-${way.toLowerCase().replaceAll(' ', '-')}`;
    const before = await send('POST', '', service(name));
    const answer = await write(name, { sessionAffinity: 'ClientIP' });
    expect(answer.metadata.annotations?.['number']).not.toBe(before.metadata.annotations?.['number']);
    expect((await read(name)).metadata.annotations).toEqual(answer.metadata.annotations);
  });

  it.each(ways)('a Service that becomes a NodePort by %s gets a port', async (way, write) => {
    const name = `n-${way.toLowerCase().replaceAll(' ', '-')}`;
    const { spec } = await send('POST', '', service(name));
    const changed = await write(name, { type: 'NodePort' });
    expect(changed.spec.ports[0]?.nodePort).toBeGreaterThanOrEqual(30_000);
    expect(changed.spec.clusterIP).toBe(spec.clusterIP);
    expect((await read(name)).spec).toEqual(changed.spec);
    const balanced = await write(name, { type: 'LoadBalancer' });
    expect(balanced.spec.ports[0]?.nodePort).toBeGreaterThanOrEqual(30_000);
  });

  it.each(ways)('a Service that is no ExternalName any more by %s gets an address', async (way, write) => {
    const name = `e-${way.toLowerCase().replaceAll(' ', '-')}`;
    await send('POST', '', service(name, { type: 'ExternalName', externalName: 'example.com' }));
    const changed = await write(name, { type: 'ClusterIP' });
    expect(changed.spec.clusterIP).toMatch(/^10\.96\./);
    expect((await read(name)).spec).toEqual(changed.spec);
  });
});

function statusWays(): typeof ways {
  const status = { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] } };
  return [
    ['status update', (name) => send('PUT', `/${name}/status`, { ...service(name), status })],
    ['status patch', (name) => send('PATCH', `/${name}/status`, { status }, MERGE_PATCH)],
  ];
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createClient, Metrics, systemClock } from '../../../machinery/runtime/index.ts';
import { consultPicker, createAddressPolicy, createHttpProtocol, type Resolve } from './index.ts';

const policy = createAddressPolicy();

test.each([
  ['NAT64, dotted', '64:ff9b::127.0.0.1'],
  ['NAT64, in hex', '64:ff9b::7f00:1'],
  ['NAT64, spelled out', '0064:ff9b:0:0:0:0:127.0.0.1'],
  ['NAT64, in capitals', '64:FF9B::A9FE:A9FE'],
  ['NAT64 for local use', '64:ff9b:1::127.0.0.1'],
  ['NAT64 for local use, after 48 bits', '64:ff9b:1:7f00:0:100::'],
  ['IPv4-mapped', '::ffff:127.0.0.1'],
  ['IPv4-mapped, in hex', '::ffff:a9fe:a9fe'],
  ['IPv4-mapped, spelled out', '0:0:0:0:0:ffff:7f00:0001'],
  ['IPv4-translated', '::ffff:0:127.0.0.1'],
  ['IPv4-compatible', '::127.0.0.1'],
  ['6to4', '2002:7f00:1::'],
  ['6to4 of metadata', '2002:a9fe:a9fe::1'],
  ['Teredo', '2001:0:1234:5678:0:0:80ff:fffe'],
  ['ISATAP', '2001:db8::5efe:127.0.0.1'],
  ['a zone', 'fe80::1%eth0'],
  ['metadata of AWS over IPv6', 'fd00:ec2::254'],
  ['the same, spelled out', 'fd00:0ec2:0:0:0:0:0:0254'],
  ['metadata of Azure', '168.63.129.16'],
  ['metadata of Alibaba', '100.100.100.200'],
  ['metadata of Oracle', '192.0.0.192'],
  ['metadata of Google over IPv6', 'fd20:ce::254'],
  ['metadata of the others', '169.254.169.254'],
  ['metadata of Azure by NAT64', '64:ff9b::168.63.129.16'],
  ['no address at all', 'somewhere'],
])('17.14: %s (%s) is forbidden', (_what, address) => {
  expect(policy.permits(address, [address])).toBe(false);
});

test.each([
  ['10.1.2.3'],
  ['fd00:ec2::253'],
  ['2001:db8::1'],
  ['64:ff9b::10.1.2.3'],
  ['2002:a01:203::1'],
  ['::ffff:10.1.2.3'],
  ['100.100.100.201'],
])('17.14: %s is permitted', (address) => {
  expect(policy.permits('picker.example', [address])).toBe(true);
});

test('17.14: one forbidden address among several, and a denied name with a dot at its end, are forbidden', () => {
  expect(policy.permits('picker.example', ['10.1.2.3', '64:ff9b::127.0.0.1'])).toBe(false);
  const strict = createAddressPolicy({ deny: ['picker.example'] });
  expect(strict.permits('Picker.Example.', ['10.1.2.3'])).toBe(false);
});

async function consult(host: string, port: number, resolve?: Resolve) {
  const transport = () => Promise.reject(new Error('no API here'));
  const protocol = createHttpProtocol({
    client: createClient({ transport, userAgent: 'test' }),
    addresses: createAddressPolicy(resolve === undefined ? {} : { allow: ['127.0.0.1'] }),
    resolve,
  });
  return consultPicker(
    {
      namespace: 'default',
      picker: { timeoutSeconds: 20, maxRetries: 0, http: { host, port } },
      question: { count: 1, candidates: ['a', 'b'] },
    },
    { protocols: [protocol], clock: systemClock, metrics: new Metrics(), shutdown: new AbortController().signal },
  );
}

test.each(['2130706433', '0x7f000001', '0177.0.0.1', '127.1', 'localhost', 'localhost.'])(
  '17.14: %s leads to this machine and is forbidden, whatever way it is spelled',
  async (host) => {
    const outcome = await consult(host, 1);
    // A resolver may also not take such a name at all; it is never called.
    expect(outcome.ok).toBe(false);
    expect(['AddressForbidden', 'ConnectionFailed']).toContain(outcome.ok ? '' : outcome.reason);
  },
);

test('17.14: a name is looked up once, and the address that was checked is the one that is called', async () => {
  let asked = 0;
  const server = createServer((_request, response) => response.end('{"chosen_pods":["a"]}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  // A name that leads elsewhere the second time, as in DNS rebinding.
  const resolve: Resolve = () => {
    asked += 1;
    return Promise.resolve(asked === 1 ? ['127.0.0.1'] : ['169.254.169.254']);
  };
  expect(await consult('rebinding.example', port, resolve)).toMatchObject({ ok: true, answer: { chosen: ['a'] } });
  expect(asked).toBe(1);
  await new Promise((done) => server.close(done));
});

test('17.14: a redirect to a forbidden address is not followed', async () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? '');
    response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const outcome = await consult('picker.example', port, () => Promise.resolve(['127.0.0.1']));
  expect(outcome).toMatchObject({ ok: false, reason: 'Redirected' });
  expect(seen).toHaveLength(1);
  await new Promise((done) => server.close(done));
});

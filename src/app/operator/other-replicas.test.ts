import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { ManualClock, createClient } from '../../machinery/runtime/index.ts';
import { answerProbe, type ProbeCheck } from '../../webhook/index.ts';
import { excuseWhileAlone } from './other-replicas.ts';

const OWN = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))[0] ?? '';
const OTHER = '192.0.2.7';

test('17: what is wrong with the leader alone makes it unready only while another replica is ready', async () => {
  const clock = new ManualClock();
  let endpoints: object[] | null = null;
  let isBehindService = true;
  const client = createClient({
    transport: () =>
      Promise.resolve({ status: 200, headers: {}, body: Buffer.from(JSON.stringify({ items: [{ endpoints }] })) }),
    userAgent: 'test',
  });
  const excuse = excuseWhileAlone({ client, clock, namespace: 'quorate', isBehindService: () => isBehindService });
  const check: ProbeCheck = { name: 'resync', problem: () => 'too long ago', excuse };
  const probe = async (): Promise<string> => {
    answerProbe([check], { verbose: true });
    await clock.advance(10_000);
    const { status, text } = answerProbe([check], { verbose: true });
    await clock.advance(0);
    return `${status} ${text}`;
  };
  const alone = '200 [+]resync not ok: too long ago; still ready: no other replica is';
  const unready = '503 [-]resync: too long ago';
  expect(await probe()).toBe(alone);
  endpoints = [{ addresses: [OWN] }, { addresses: [OTHER], conditions: { ready: false } }];
  await probe();
  expect(await probe()).toBe(alone);
  endpoints = [{ addresses: [OWN] }, { addresses: [OTHER], conditions: { ready: true } }];
  await probe();
  expect(await probe()).toBe(unready);
  endpoints = [{ addresses: [OWN] }];
  await probe();
  expect(await probe()).toBe(alone);
  isBehindService = false;
  expect(await probe()).toBe(unready);
});

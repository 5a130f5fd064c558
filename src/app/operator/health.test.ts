import { expect, test } from 'vitest';
import { createAuthority, issueServer } from '../../machinery/runtime/certificates.ts';
import { InformerSet, ManualClock, createClient, silentLogger } from '../../machinery/runtime/index.ts';
import { listenForAnswers, operatorChecks } from './health.ts';

test('17, 18.6: readiness says what is true now: caches, the API server, the certificate, the registration, the end', async () => {
  const clock = new ManualClock();
  const authority = await createAuthority('ca', { now: clock.now(), days: 10 });
  const pair = await issueServer(authority, 'w', ['w'], { now: clock.now(), days: 1 });
  let status = 200;
  const answers = listenForAnswers(() => Promise.resolve({ status, headers: {}, body: Buffer.from('{}') }), clock);
  const client = createClient({ transport: answers.transport, userAgent: 'test' });
  const { signal } = new AbortController();
  let registration: string | undefined;
  let isStopping = false;
  let notStored: string | undefined;
  let configurations: string | undefined;
  let resyncAgeMs: number | undefined;
  const checks = operatorChecks({
    clock,
    informers: new InformerSet({ client, clock, log: silentLogger, signal }),
    answers,
    certificate: () => ({ pair, authority: authority.certificate }),
    notStored: () => notStored,
    pauses: { name: 'clock', needed: true, problem: () => undefined },
    registration: () => registration,
    configurations: () => configurations,
    resyncAgeMs: () => resyncAgeMs,
    alone: () => undefined,
    isStopping: () => isStopping,
  });
  const wrong = (): string[] => checks.flatMap(({ name, problem }) => (problem() === undefined ? [] : [name]));
  expect(wrong()).toEqual([]);
  await clock.advance(16_000);
  expect(wrong()).toEqual(['api-server']);
  status = 503;
  await client.request('GET', '/version').catch(() => {});
  expect(wrong()).toEqual(['api-server']);
  status = 200;
  await client.request('GET', '/version');
  expect(wrong()).toEqual([]);
  notStored = 'Secret quorate/webhook has another one';
  expect(wrong()).toEqual(['certificate']);
  notStored = undefined;
  configurations = 'quorate-evictions: deleted';
  resyncAgeMs = 179_999;
  expect(wrong()).toEqual(['configurations']);
  configurations = undefined;
  resyncAgeMs = 180_000;
  expect(wrong()).toEqual(['resync']);
  resyncAgeMs = undefined;
  registration = 'evictions.quorate.dev: the API server lacks our path';
  isStopping = true;
  expect(wrong()).toEqual(['registration', 'not-stopping']);
  await clock.advance(23.5 * 3_600_000);
  expect(wrong()).toContain('certificate');
});

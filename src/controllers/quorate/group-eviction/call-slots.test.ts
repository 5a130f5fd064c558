import { expect, test } from 'vitest';
import { CallSlots } from './call-slots.ts';

test('CallSlots runs 4 calls to a host and 64 in all, and a slow host delays no other', async () => {
  const slots = new CallSlots();
  const open: { host: string; done: () => void }[] = [];
  const calls: Promise<void>[] = [];
  const call = (host: string): void => {
    calls.push(slots.run(host, () => new Promise((done) => open.push({ host, done }))));
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  for (let at = 0; at < 10; at += 1) call('slow');
  call('quick');
  await turn();
  expect(open.map(({ host }) => host)).toEqual(['slow', 'slow', 'slow', 'slow', 'quick']);
  for (let host = 0; host < 30; host += 1) for (let at = 0; at < 4; at += 1) call(`h${host}`);
  await turn();
  expect(open).toHaveLength(64);
  while (open.length > 0) {
    open.shift()?.done();
    await turn();
    expect(open.length).toBeLessThanOrEqual(64);
    expect(open.filter(({ host }) => host === 'slow').length).toBeLessThanOrEqual(4);
  }
  await Promise.all(calls);
  expect(calls).toHaveLength(131);
});

import { afterEach, beforeEach, expect, test } from 'vitest';
import { leaseType } from '../../../src/api/resource-types.ts';
import { electLeader, settle, silentLogger } from '../../../src/machinery/runtime/index.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';

let plane: ControlPlane;
beforeEach(async () => {
  plane = await startControlPlane();
});
afterEach(() => plane.stop());

/** A candidate for the lease `kube-system/quorate`. */
function stand(identity: string, client = plane.client) {
  const abort = new AbortController();
  const state = { identity, leading: false, lost: false, stop: () => abort.abort(new Error('stopped')) };
  void electLeader({
    client,
    clock: plane.clock,
    log: silentLogger,
    namespace: 'kube-system',
    name: 'quorate',
    identity,
    signal: abort.signal,
    lost: () => {
      state.lost = true;
    },
  }).then(() => {
    state.leading = true;
  });
  return state;
}

const holder = async (): Promise<string | undefined> =>
  (await plane.client.get(leaseType, { namespace: 'kube-system', name: 'quorate' })).spec?.holderIdentity;

test('electLeader() elects one of two, and the other when the first gives the lease back', async () => {
  const first = stand('a');
  await settle();
  const second = stand('b');
  await plane.clock.advance(60_000);
  expect([first.leading, second.leading]).toEqual([true, false]);
  first.stop();
  await plane.clock.advance(5000);
  expect(second.leading).toBe(true);
  expect(await holder()).toBe('b');
  second.stop();
});

test('electLeader() takes a lease over only after it stood still for its whole duration', async () => {
  await plane.client.create(leaseType, {
    metadata: { name: 'quorate', namespace: 'kube-system' },
    // A holder whose clock is far behind ours: its renewals look ancient, but it is alive.
    spec: { holderIdentity: 'silent', leaseDurationSeconds: 15, renewTime: '2020-01-01T00:00:00.000000Z' },
  });
  const candidate = stand('b');
  await plane.clock.advance(13_000);
  expect(candidate.leading).toBe(false);
  await plane.clock.advance(5000);
  expect(candidate.leading).toBe(true);
  candidate.stop();
});

test('electLeader() elects nobody twice when clocks are set', async () => {
  const first = stand('a');
  await settle();
  const second = stand('b');
  await plane.clock.advance(3000);
  for (const byMs of [3_600_000, -7_200_000]) {
    plane.clock.set(plane.clock.now() + byMs);
    await plane.clock.advance(3000);
    expect([first.leading, first.lost, second.leading, await holder()]).toEqual([true, false, false, 'a']);
  }
  first.stop();
  second.stop();
});

test('electLeader() tells a leader that lost its lease', async () => {
  const first = stand('a');
  await plane.clock.advance(3000);
  const lease = await plane.client.get(leaseType, { namespace: 'kube-system', name: 'quorate' });
  await plane.client.update(leaseType, { ...lease, spec: { ...lease.spec, holderIdentity: 'thief' } });
  await plane.clock.advance(3000);
  expect(first.lost).toBe(true);
});

test('18.6: electLeader() steps a leader down ten seconds after it asked for its last renewal, though nothing answers', async () => {
  let stalled = false;
  const answered = <T>(answer: () => Promise<T>): Promise<T> => (stalled ? new Promise(() => {}) : answer());
  const client = {
    ...plane.client,
    get: ((...args) => answered(() => plane.client.get(...args))) as typeof plane.client.get,
  };
  const first = stand('a', client);
  await plane.clock.advance(7000);
  expect(first.leading).toBe(true);
  stalled = true;
  await plane.clock.advance(7000);
  expect(first.lost).toBe(false);
  await plane.clock.advance(3000);
  expect(first.lost).toBe(true);
});

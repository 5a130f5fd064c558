/** The storm of `npm run test:storm`, short. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RealControlPlane } from '../kubernetes/control-plane.ts';
import { type RunningHost, startClusterHost } from '../storm/hosts.ts';
import { complaints, playStorm } from '../storm/storm.ts';
import { startPlane } from './stage.ts';

let plane: RealControlPlane;
let host: RunningHost;

beforeAll(async () => {
  plane = await startPlane({ components: ['kube-controller-manager'] });
  host = await startClusterHost(plane);
});

afterAll(async () => {
  await host?.stop();
  await plane?.stop();
});

test('18.1 GR-02, GR-03, GR-16: gangs of every owner, 32 clients, flapping pods, a killed replica and deleted ledgers: never more down than allowed', async () => {
  const result = await playStorm(host, { seconds: 25, seed: 18 });
  expect(complaints(result)).toEqual([]);
});

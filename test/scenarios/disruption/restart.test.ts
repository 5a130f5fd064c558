/**
 * A group that restarts under a budget that counts groups. `npm run test:restarts` plays 200 rounds; each may grant the
 * eviction of the other group's pod only while the restarted group has all of its pods Ready again.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isPodReady } from '../../../src/api/core/pod-state.ts';
import { type LeaderWorkerSet, leaderWorkerSetType, LWS } from '../../../src/api/lws/types.ts';
import { groupEvictionType } from '../../../src/api/quorate/group-eviction.ts';
import { podDisruptionBudgetType, podType } from '../../../src/api/resource-types.ts';
import { type ControlPlane, startControlPlane } from '../../../src/testkit/index.ts';
import { Stage } from './support.ts';

const ROUNDS = Number(process.env['QUORATE_RESTART_ROUNDS'] ?? 2);
const LOOPS = 4;
/** Evictions of one loop in each step of the clock. */
const TIMES = 3;
const STEP_MS = 100;
const namespace = 'default';

async function readyIn(plane: ControlPlane, group: string): Promise<number> {
  const { items } = await plane.client.list(podType, { namespace, labelSelector: `${LWS.groupIndex}=${group}` });
  return items.filter((pod) => isPodReady(pod) && !pod.metadata.deletionTimestamp).length;
}

async function untilReady(plane: ControlPlane): Promise<void> {
  for (let step = 0; step < 600; step += 1) {
    if ((await readyIn(plane, '0')) === 3 && (await readyIn(plane, '1')) === 3) return;
    await plane.clock.advance(100);
  }
  throw new Error('The groups did not become Ready');
}

test(
  `18.2 GR-21: no pod of the last whole group is granted in ${ROUNDS} restarts of the other`,
  async () => {
    const text = readFileSync(new URL('../../../examples/gangs/serving.yaml', import.meta.url), 'utf8');
    const [lws] = parseAllDocuments(text).map((document) => document.toJS() as LeaderWorkerSet);
    const plane = await startControlPlane({ controllers: true, nodes: 4, seed: ROUNDS });
    const stage = new Stage(plane);
    await plane.clock.advance(5_000);
    await plane.client.create(podDisruptionBudgetType, {
      metadata: { namespace, name: 'chat' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'chat' } } },
    });
    await plane.client.create(leaderWorkerSetType, {
      ...(lws as LeaderWorkerSet),
      metadata: { namespace, name: 'chat' },
    });
    const wrong: string[] = [];
    let refused = 0;
    let granted = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      await untilReady(plane);
      await plane.clock.advance(1_000);
      await plane.client.create(groupEvictionType, {
        metadata: { namespace, name: `round-${round}` },
        spec: { leaderWorkerSet: { name: 'chat', groupIndex: 1 } },
      });
      let isOver = false;
      const ask = async (): Promise<void> => {
        for (let time = 0; time < TIMES && !isOver; time += 1) {
          const { code } = await stage.evict('chat-0-2');
          if (code !== 201) {
            refused += 1;
            continue;
          }
          isOver = true;
          granted += 1;
          const ready = await readyIn(plane, '1');
          if (ready < 3) wrong.push(`round ${round}: granted while group 1 had ${ready} of 3 Ready`);
        }
      };
      for (let step = 0; step < 600 && !isOver; step += 1) {
        await Promise.all([plane.clock.advance(STEP_MS), ...Array.from({ length: LOOPS }, ask)]);
      }
    }
    await plane.stop();
    expect(wrong).toEqual([]);
    expect(granted).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(ROUNDS);
  },
  30_000 + ROUNDS * 10_000,
);

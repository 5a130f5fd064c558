/** Twenty nodes under one Maintenance whose operator is killed every five seconds. */
import { afterEach, expect, test } from 'vitest';
import type { Node, Pod } from '../../../src/api/generated/core-v1.ts';
import { nodeType, podType } from '../../../src/api/resource-types.ts';
import { openComponents } from '../../../src/app/run-components.ts';
import { createMaintenanceController } from '../../../src/controllers/quorate/maintenance/index.ts';
import { FeatureGates, silentLogger, type Transport } from '../../../src/machinery/runtime/index.ts';
import { told, World } from './fixture.ts';

const NODES = 20;
const SPARE = 4;
/** Seconds between two kills, and within which conditions must be true of the cluster. */
const LIFE = 5;
const TRUE_WITHIN = 2;
const CLAIM = 'policy.quorate.dev/maintenance';

let world: World;
afterEach(() => world.stop());

/** A process that is there until it is killed: nothing it asks for after that arrives. */
function begin(): () => void {
  let isDead = false;
  const send: Transport = (request) =>
    isDead ? Promise.reject(new Error('the process is dead')) : world.plane.transport(request);
  const components = openComponents({ transportFor: () => send, clock: world.plane.clock, log: silentLogger });
  components.start([createMaintenanceController()]);
  return () => {
    isDead = true;
    components.stop();
  };
}

const hasToMove = ({ metadata, status }: Pod): boolean =>
  metadata.ownerReferences?.some(({ kind }) => kind === 'DaemonSet') !== true &&
  status?.phase !== 'Succeeded' &&
  status?.phase !== 'Failed';

/** What the conditions of a node must say, by the claim on it and the pods there. */
function wanted({ metadata }: Node, pods: readonly Pod[]): string | undefined {
  if (metadata.annotations?.[CLAIM] === undefined) return undefined;
  return pods.some(hasToMove) ? 'draining' : 'drained';
}

function said(node: Node): string {
  const { Drained = '', DrainInProgress = '' } = told(node);
  if (Drained.startsWith('True') && DrainInProgress.startsWith('False')) return 'drained';
  return DrainInProgress.startsWith('True') && !Drained.startsWith('True') ? 'draining' : 'neither';
}

test('MN-11: 20 nodes, the operator killed every 5 s: it ends, as planned, and conditions are true within 2 s', async () => {
  world = await World.start({ nodes: NODES + SPARE, gates: new FeatureGates({ Maintenance: false }) });
  await world.gangs(NODES, { size: 2, allowed: 1 });
  const names = Array.from({ length: NODES }, (_, at) => `node-${at}`);
  await world.maintain('m', { nodes: { names }, uncordon: 'WhenFinished', pace: { maxNodesAtOnce: 4 } });
  /** For how many seconds a node has been told of as something that it is not. */
  const wrong = new Map<string, number>();
  let [longest, lives] = [0, 0];
  let planned: number | undefined;
  const phase = async (): Promise<string | undefined> => (await world.get('m')).status?.phase;
  for (; lives < 200 && (await phase()) !== 'Done'; lives += 1) {
    const kill = begin();
    for (let second = 0; second < LIFE; second += 1) {
      await world.pass(1);
      const [nodes, pods] = await Promise.all([world.client.list(nodeType, {}), world.client.list(podType, {})]);
      for (const node of nodes.items) {
        const name = node.metadata.name ?? '';
        const must = wanted(
          node,
          pods.items.filter(({ spec }) => spec?.nodeName === name),
        );
        const seconds = must === undefined || must === said(node) ? 0 : (wrong.get(name) ?? 0) + 1;
        wrong.set(name, seconds);
        longest = Math.max(longest, seconds);
      }
      planned ??= (await world.get('m')).status?.groups?.planned;
    }
    kill();
  }
  const { status } = await world.get('m');
  expect(status?.phase).toBe('Done');
  expect(status?.nodesDrained).toBe(NODES);
  expect(lives).toBeGreaterThan(3);
  const outages = [...world.outages.values()].reduce((sum, count) => sum + count, 0);
  expect(outages).toBe(status?.groups?.downTotal);
  expect(outages).toBeLessThanOrEqual(planned ?? 0);
  for (const { count, group } of status?.groups?.hit ?? [])
    expect(world.outages.get(group.split('/').at(-1) ?? '')).toBe(count);
  expect(world.mostDown).toBeLessThanOrEqual(1);
  expect(longest).toBeLessThanOrEqual(TRUE_WITHIN);
  const left = (await world.client.list(nodeType, {})).items;
  expect(left.filter(({ metadata, spec }) => spec?.unschedulable || metadata.annotations?.[CLAIM])).toEqual([]);
});

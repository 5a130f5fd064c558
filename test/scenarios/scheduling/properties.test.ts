import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodeType, podType } from '../../../src/api/resource-types.ts';
import { onStage, type Stage } from './stage.ts';

/** `npm run test:histories` plays many more. */
const HISTORIES = Number(process.env['QUORATE_HISTORIES'] ?? 40);

type Step =
  | { readonly kind: 'gang'; readonly size: number; readonly min: number }
  | { readonly kind: 'single' }
  | { readonly kind: 'delete'; readonly pick: number }
  | { readonly kind: 'node'; readonly cpu: number }
  | { readonly kind: 'cordon'; readonly pick: number }
  | { readonly kind: 'wait' };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('gang' as const),
    size: fc.integer({ min: 1, max: 5 }),
    min: fc.integer({ min: 1, max: 5 }),
  }),
  fc.constant({ kind: 'single' as const }),
  fc.record({ kind: fc.constant('delete' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('node' as const), cpu: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('cordon' as const), pick: fc.nat() }),
  fc.constant({ kind: 'wait' as const }),
);

interface Gang {
  readonly min: number;
  readonly size: number;
  /** A member that had a node was deleted by the test, not by the scheduler. */
  lost: boolean;
}

async function play(stage: Stage, at: number, move: Step, gangs: Map<string, Gang>): Promise<void> {
  switch (move.kind) {
    case 'gang': {
      const name = `g${at}`;
      gangs.set(name, { min: move.min, size: move.size, lost: false });
      await stage.addGang(name, move.min);
      await stage.addMembers(name, move.size);
      return;
    }
    case 'single':
      await stage.addPod(`single${at}`);
      return;
    case 'delete': {
      const { items } = await stage.client.list(podType, { namespace: 'default' });
      const victim = items[move.pick % Math.max(items.length, 1)];
      if (victim === undefined) return;
      const gang = gangs.get(victim.spec?.schedulingGroup?.podGroupName ?? '');
      if (gang !== undefined) gang.lost = true;
      await stage.remove(podType, victim.metadata.name ?? '');
      return;
    }
    case 'node':
      await stage.addNode(`extra${at}`, move.cpu);
      return;
    case 'cordon': {
      const { items } = await stage.client.list(nodeType);
      const name = items[move.pick % Math.max(items.length, 1)]?.metadata.name;
      if (name === undefined) return;
      await stage.client.patch(nodeType, { name }, { type: 'merge', body: { spec: { unschedulable: true } } });
      return;
    }
    case 'wait':
      await stage.pass(35);
  }
}

async function check(stage: Stage, gangs: ReadonlyMap<string, Gang>, { atRest }: { atRest: boolean }): Promise<void> {
  const [pods, nodes] = await Promise.all([
    stage.client.list(podType, { namespace: 'default' }),
    stage.client.list(nodeType),
  ]);
  let open = 0;
  for (const node of nodes.items) {
    const used = pods.items.filter(({ spec }) => spec?.nodeName === node.metadata.name).length;
    const cpus = Number(node.status?.allocatable?.['cpu']);
    expect(used).toBeLessThanOrEqual(cpus);
    if (node.spec?.unschedulable !== true) open += cpus - used;
  }
  for (const [name, { lost, min, size }] of gangs) {
    const members = pods.items.filter(({ spec }) => spec?.schedulingGroup?.podGroupName === name);
    const bound = members.filter(({ spec }) => spec?.nodeName).length;
    if (!lost) expect(bound === 0 || bound >= min).toBe(true);
    const complete = members.length >= min && size >= min;
    if (atRest && complete && bound < min) expect(open).toBeLessThan(min - bound);
  }
}

test(
  'no history leaves a gang half bound, a node overcommitted, or a gang that fits without a place',
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
        fc.array(step, { maxLength: 12 }),
        (nodes, moves) =>
          onStage({ nodes }, async (stage) => {
            const gangs = new Map<string, Gang>();
            for (const [at, move] of moves.entries()) {
              await play(stage, at, move, gangs);
              await stage.settle();
              await check(stage, gangs, { atRest: false });
            }
            await stage.pass(120);
            await check(stage, gangs, { atRest: true });
          }),
      ),
      { numRuns: HISTORIES },
    );
  },
  HISTORIES * 3000,
);

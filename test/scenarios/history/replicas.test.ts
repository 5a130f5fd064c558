/** Several replicas: one leads and enters what went, the others enter what they refused and say whom they let pass. */
import { afterEach, expect, test } from 'vitest';
import type { PodCondition } from '../../../src/api/generated/core-v1.ts';
import { disruptionHistoryType } from '../../../src/api/quorate/disruption-history.ts';
import { podType } from '../../../src/api/resource-types.ts';
import { type Components, runComponents } from '../../../src/app/run-components.ts';
import { history } from '../../../src/controllers/quorate/history/index.ts';
import { AnswerQueue, type GivenAnswer } from '../../../src/decisions/history/index.ts';
import { FeatureGates, ManualClock, silentLogger } from '../../../src/machinery/runtime/index.ts';
import { createMemoryStore } from '../../../src/storage/index.ts';
import { startControlPlane } from '../../../src/testkit/index.ts';
import { namespace, Recorded } from './fixture.ts';

const home = 'kube-system';
let recorded: Recorded;
const replicas: Components[] = [];
afterEach(async () => {
  for (const one of replicas.splice(0)) one.stop();
  await recorded.stop();
});

/** A replica of the operator, as far as the record goes. */
function replica(name: string, leads: boolean): AnswerQueue {
  const answers = new AnswerQueue();
  const { clock, transport } = recorded.plane;
  const host = {
    gates: new FeatureGates(),
    serves: () => true,
    history: { answers, namespace: home, replica: name, everyMs: 5000 },
  };
  const controller = history.create(host);
  if (controller === undefined) throw new Error('the record is not kept');
  const leading = leads ? Promise.resolve() : new Promise<void>(() => {});
  replicas.push(runComponents({ transportFor: () => transport, clock, log: silentLogger, leading }, [controller]));
  return answers;
}

async function start(): Promise<void> {
  const clock = new ManualClock();
  const store = createMemoryStore({ now: () => clock.now() });
  const gates = FeatureGates.parse('DisruptionHistory=false');
  recorded = new Recorded(await startControlPlane({ controllers: true, nodes: 2, clock, store, gates }));
  await recorded.pass(2);
}

test('8.2: who asked another replica is learned from it, and what that one refused is its own entry', async () => {
  await start();
  replica('first', true);
  const answers = replica('second', false);
  await recorded.fleet('web', 2);
  await recorded.pass(10);
  const pod = await recorded.one('web');
  const { name = '', uid = '' } = pod.metadata;
  const asked: Omit<GivenAnswer, 'allowed'> = {
    at: recorded.plane.clock.now(),
    kind: 'Eviction',
    namespace,
    pod: { name, uid },
    who: 'ada',
  };
  const refusal = { reason: 'DisruptionBudget', message: 'no', budgets: ['all'], policies: [] };
  answers.tell({ ...asked, allowed: false, refusal });
  answers.tell({ ...asked, allowed: true });
  const target: PodCondition = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };
  await recorded.client.patch(
    podType,
    { namespace, name },
    { type: 'strategic', body: { status: { conditions: [target] } } },
    { subresource: 'status' },
  );
  await recorded.client.delete(podType, { namespace, name });
  await recorded.pass(20);
  const entries = await recorded.entries();
  expect(entries.map(({ outcome, who }) => `${outcome} ${who}`).sort()).toEqual(['Granted ada', 'Refused ada']);
  const writers = (await recorded.histories()).flatMap(({ metadata, spec }) =>
    metadata.labels === undefined ? [spec?.writer] : [],
  );
  expect(new Set(writers).size).toBe(2);
  // What was handed over is of no use after ten minutes.
  await recorded.pass(700);
  const next = await recorded.one('web');
  await recorded.client.delete(podType, { namespace, name: next.metadata.name ?? '' });
  await recorded.pass(10);
  const left = await recorded.client.list(disruptionHistoryType, { namespace: home });
  expect(left.items.map(({ metadata }) => metadata.name)).toEqual(['reached']);
});

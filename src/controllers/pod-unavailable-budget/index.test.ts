import { expect, test } from 'vitest';
import type { PodUnavailableBudget } from '../../api/kruise/types.ts';
import { BudgetIndexes, UnavailabilityFeed } from '../../decisions/unavailability/index.ts';
import {
  type ControllerContext,
  createClient,
  InformerSet,
  type Logger,
  ManualClock,
  Metrics,
  settle,
} from '../../machinery/runtime/index.ts';
import { createPodUnavailableBudgetController } from './index.ts';

const budget = (resourceVersion: string, unavailableAllowed: number): PodUnavailableBudget => ({
  metadata: { name: 'pub', namespace: 'default', uid: 'u', generation: 1, resourceVersion },
  spec: { selector: {}, maxUnavailable: 3 },
  status: { observedGeneration: 1, unavailableAllowed },
});

test('a charge written here is not forgotten when the watch shows what came before it', async () => {
  let say: (event: object) => void = () => {};
  async function* events(): AsyncGenerator<Uint8Array> {
    for (;;) yield Buffer.from(`${JSON.stringify(await new Promise<object>((resolve) => (say = resolve)))}\n`);
  }
  async function* nothing(): AsyncGenerator<Uint8Array> {
    yield await new Promise<never>(() => {});
  }
  const client = createClient({
    userAgent: 'test',
    transport: ({ path }) => {
      const isBudgets = path.includes('podunavailablebudgets');
      const items = isBudgets ? [budget('5', 3)] : [];
      const list = Buffer.from(JSON.stringify({ metadata: { resourceVersion: '5' }, items }));
      const watch = isBudgets ? events() : nothing();
      return Promise.resolve({ status: 200, headers: {}, body: path.includes('watch=true') ? watch : list });
    },
  });
  const abort = new AbortController();
  const { signal } = abort;
  const clock = new ManualClock();
  const log = { debug() {}, info() {}, warn() {}, error() {} } as unknown as Logger;
  const indexes = new BudgetIndexes();
  const informers = new InformerSet({ client, clock, log, signal });
  const context: ControllerContext = {
    client,
    clientFor: () => client,
    clock,
    informers,
    log,
    metrics: new Metrics(),
    eventsFor: () => ({ record() {} }) as never,
    random: () => 0,
    signal,
    leading: new Promise(() => {}),
  };
  createPodUnavailableBudgetController({ feed: new UnavailabilityFeed(indexes), leaderWorkerSets: false })(context);
  await informers.whenSynced();
  await settle();
  const allowed = (): number | undefined => indexes.of('default').budget('pub')?.budget.status?.unavailableAllowed;
  expect(allowed()).toBe(3);
  indexes.of('default').setBudget(budget('9', 1));
  say({ type: 'MODIFIED', object: budget('7', 2) });
  await settle();
  expect(allowed()).toBe(1);
  say({ type: 'MODIFIED', object: budget('10', 0) });
  await settle();
  expect(allowed()).toBe(0);
  abort.abort(new Error('done'));
});

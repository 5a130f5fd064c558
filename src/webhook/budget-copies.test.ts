import { expect, test } from 'vitest';
import type { PodUnavailableBudget } from '../api/kruise/types.ts';
import { BudgetIndexes } from '../decisions/unavailability/index.ts';
import { createClient } from '../machinery/runtime/index.ts';
import { BudgetCopies } from './budget-copies.ts';

const namespace = 'default';

const budget = (resourceVersion: string, unavailableAllowed: number, uid = 'u'): PodUnavailableBudget => ({
  metadata: { name: 'pub', namespace, uid, generation: 1, resourceVersion },
  spec: { selector: {}, maxUnavailable: 3 },
  status: { observedGeneration: 1, unavailableAllowed },
});

/** An index that a watch feeds, and copies over a server that stores `stored`. */
function stage() {
  const indexes = new BudgetIndexes();
  const index = indexes.of(namespace);
  index.setBudget(budget('5', 3));
  const server: { stored: PodUnavailableBudget | undefined } = { stored: budget('5', 3) };
  const client = createClient({
    userAgent: 'test',
    transport: () => {
      const gone = { kind: 'Status', code: 404, reason: 'NotFound', message: 'gone' };
      const body = Buffer.from(JSON.stringify(server.stored ?? gone));
      return Promise.resolve({ status: server.stored === undefined ? 404 : 200, headers: {}, body });
    },
  });
  const copies = new BudgetCopies(client, indexes);
  const allowed = (): number | undefined =>
    copies.ask(namespace, (one) => one.budget('pub')?.budget.status?.unavailableAllowed);
  return { allowed, copies, index, server };
}

test('19.5: a charge written here is not forgotten when the watch shows what came before it', async () => {
  const { allowed, copies, index, server } = stage();
  server.stored = budget('9', 1);
  await copies.write(budget('5', 3), { observedGeneration: 1, unavailableAllowed: 1 }).put();
  expect(allowed()).toBe(1);
  expect(index.budget('pub')?.budget).toEqual(budget('5', 3));
  index.setBudget(budget('7', 2));
  expect(allowed()).toBe(1);
  index.setBudget(budget('10', 0));
  expect(allowed()).toBe(0);
});

test('19.5: a budget that is gone guards nothing, until the watch shows its successor', async () => {
  const { allowed, copies, index, server } = stage();
  server.stored = undefined;
  await copies.refresh(namespace, 'pub');
  expect(allowed()).toBeUndefined();
  expect(index.budget('pub')).toBeDefined();
  index.setBudget(budget('12', 2, 'another'));
  expect(allowed()).toBe(2);
});

test('19.5: an older version that is read late changes nothing', async () => {
  const { allowed, copies, index, server } = stage();
  index.setBudget(budget('8', 0));
  server.stored = budget('7', 2);
  await copies.refresh(namespace, 'pub');
  expect(allowed()).toBe(0);
});

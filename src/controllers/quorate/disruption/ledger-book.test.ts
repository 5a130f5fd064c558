import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PodDisruptionBudgetStatus } from '../../../api/generated/policy-v1.ts';
import type { DisruptionLedger } from '../../../api/quorate/types.ts';
import { podDisruptionBudgetType, podType } from '../../../api/resource-types.ts';
import {
  ApiError,
  type Client,
  type ControllerContext,
  defineController,
  isConflict,
} from '../../../machinery/runtime/index.ts';
import { type ControlPlane, podDisruptionBudget, startControlPlane } from '../../../testkit/index.ts';
import type { BudgetBook } from './book.ts';
import { ledgerBook } from './ledger-book.ts';

const key = { namespace: 'default', name: 'budget' };
const counting = (unit: 'Pod' | 'PodGroup', allowed: number): PodDisruptionBudgetStatus => ({
  observedGeneration: 1,
  disruptionsAllowed: allowed,
  currentHealthy: allowed,
  desiredHealthy: 0,
  expectedPods: allowed,
  conditions: [
    {
      type: 'PodGroupBudget',
      status: unit === 'PodGroup' ? 'True' : 'False',
      reason: 'GroupUnits',
      message: '',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    },
  ],
});

let plane: ControlPlane;
let book: BudgetBook;
/** The one ledger. */
let ledger: DisruptionLedger;
/** How many of the next writes of a budget's status lose against somebody else's. */
let losing = 0;

beforeEach(async () => {
  losing = 0;
  ledger = { metadata: key, status: {} };
  plane = await startControlPlane({
    controllers: [
      defineController({
        name: 'test',
        deps(context) {
          book = openBook(context);
        },
      }),
    ],
  });
  const spec = { minAvailable: 0, selector: { matchLabels: { app: 'a' } } };
  await plane.client.create(podDisruptionBudgetType, podDisruptionBudget({ spec }));
  await plane.settle();
});
afterEach(() => plane.stop());

function openBook({ client, clock, eventsFor, informers }: ControllerContext): BudgetBook {
  const updateStatus = (async (...args: Parameters<Client['updateStatus']>) => {
    if (losing === 0) return client.updateStatus(...args);
    losing -= 1;
    throw new ApiError(409, { kind: 'Status', code: 409, reason: 'Conflict' });
  }) as Client['updateStatus'];
  return ledgerBook({
    client: { ...client, updateStatus } as Client,
    clock,
    events: eventsFor('test'),
    budgets: informers.of(podDisruptionBudgetType),
    pods: informers.of(podType),
    ledgers: {
      get: () => ledger,
      write: async (_, status) => (ledger = { ...ledger, status }),
      begin: async (made, status) => (ledger = { ...made, status }),
      follow: () => {},
      whenSynced: async () => {},
    },
    countsPods: true,
    publisher: {
      async publish(budgetKey) {
        const budget = await client.get(podDisruptionBudgetType, budgetKey);
        const status = { ...counting('PodGroup', 7), conditions: [] };
        await updateStatus(podDisruptionBudgetType, { ...budget, status });
      },
      unpublish: async () => {},
    },
    hasUnknownHistory: () => false,
  });
}

const given = () => {
  const budget = book.get(key);
  if (budget === undefined) throw new Error('the budget is not known');
  return budget;
};
const own = async () => (await plane.client.get(podDisruptionBudgetType, key)).status;

async function write(status: PodDisruptionBudgetStatus): Promise<void> {
  await book.write(given(), status);
  await plane.settle();
}

test('while groups are counted the status of the budget is published; counting pods, it is exact', async () => {
  await write(counting('PodGroup', 1));
  expect((await own())?.disruptionsAllowed).toBe(7);
  await write(counting('Pod', 5));
  expect((await own())?.disruptionsAllowed).toBe(5);
});

test('no ledger says that pods are counted before the status of the budget is exact', async () => {
  await write(counting('PodGroup', 1));
  losing = 1;
  await expect(write(counting('Pod', 5))).rejects.toSatisfy(isConflict);
  expect(ledger.status?.unit).toBe('PodGroup');
});

test('a status that could not be published when the ledger was written is published later', async () => {
  await write(counting('Pod', 5));
  losing = 1;
  await expect(write(counting('PodGroup', 1))).rejects.toSatisfy(isConflict);
  expect((await own())?.disruptionsAllowed).toBe(5);
  await book.mend?.(given());
  expect((await own())?.disruptionsAllowed).toBe(7);
});

test('while pods are counted, what the API server granted is read from the budget and kept', async () => {
  await write(counting('Pod', 5));
  const budget = await plane.client.get(podDisruptionBudgetType, key);
  const disruptedPods = { p: '2026-01-01T00:00:00Z' };
  const status = { ...budget.status, ...counting('Pod', 4), disruptedPods };
  await plane.client.updateStatus(podDisruptionBudgetType, { ...budget, status });
  await plane.settle();
  expect(given().status?.disruptedPods).toEqual(disruptedPods);
  await write({ ...counting('Pod', 4), disruptedPods });
  expect((await own())?.disruptedPods).toEqual(disruptedPods);
  await write(counting('Pod', 4));
  expect((await own())?.disruptedPods).toBeUndefined();
});

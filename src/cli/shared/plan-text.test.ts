import { expect, test } from 'vitest';
import type { PlannedDrain } from '../../tasks/index.ts';
import { formatPlan, formatPlanMermaid } from './plan-text.ts';

const going = (unit: string) => ({
  unit,
  pods: [`${unit}-0`],
  disrupts: true,
  where: {},
  confidence: { kind: 'exact' } as const,
});
const planned: PlannedDrain = {
  format: 'quorate-drain-plan',
  version: 2,
  madeAt: '2026-01-01T00:00:00Z',
  nodesReturn: false,
  nodes: ['n1', 'n2'],
  pods: {},
  plan: {
    steps: [
      { evictions: [going('easy')], completes: [] },
      { evictions: [going('a'), going('b')], completes: ['n1', 'n2'], exchange: true },
    ],
    disruptions: 3,
    lowerBound: 3,
    hitAgain: 0,
    blocked: [],
  },
  naive: { disruptions: 3, hitAgain: 0 },
};

test('PL-04: a plan says which of its steps is an exchange, and that others may come between', () => {
  const text = formatPlan(planned);
  expect(text).toContain(
    'Step 2 is an exchange: its groups go into the room that they leave each other.\nBetween the two anybody may take it.',
  );
  expect(text).not.toContain('Step 1 is');
  expect(formatPlanMermaid(planned)).toContain('s2["step 2, exchange<br/>');
});

import { expect, test } from 'vitest';
import type { Maintenance, MaintenanceStep } from '../../api/quorate/maintenance.ts';
import { describeMaintenance, listMaintenances } from './text.ts';

const NOW = Date.parse('2026-11-18T13:40:00Z');

function shown(step: MaintenanceStep): string[] {
  const evictions = [{ group: 'ml/PodGroup/gang-0', pods: [], disrupts: true }];
  const plan = {
    number: 1,
    madeAt: '2026-11-18T13:39:00Z',
    hash: '',
    stepsBefore: 0,
    steps: [{ evictions, completes: ['node-0'] }, { evictions }, { evictions }],
    disruptions: 3,
    lowerBound: 3,
  };
  const maintenance = { metadata: { name: 'update' }, spec: {}, status: { phase: 'Running', plan, step } };
  return describeMaintenance(maintenance as unknown as Maintenance, NOW).slice(-3);
}

test('21.1: show marks the steps that are done and the one under way', () => {
  const begunAt = '2026-11-18T13:39:30Z';
  expect(shown({ number: 2, of: 3, begunAt, activity: 'Evicting' })).toEqual([
    '  done 1. ml/PodGroup/gang-0; empties node-0',
    '  now  2. ml/PodGroup/gang-0',
    '       3. ml/PodGroup/gang-0',
  ]);
  expect(shown({ number: 2, of: 3, begunAt, doneAt: begunAt })[1]).toBe('  done 2. ml/PodGroup/gang-0');
});

test('listMaintenances() has a line, a wide line and a name for each', () => {
  const update: Maintenance = {
    metadata: { name: 'update' },
    spec: { nodes: { names: ['node-0'] }, reason: 'a new kernel' },
  };
  const { names, text, wide } = listMaintenances([update], NOW);
  expect(names).toEqual(['maintenance.policy.quorate.dev/update']);
  expect(text[1]).toMatch(/^update +Pending/);
  expect(wide[0]).toMatch(/ WHAT FOR$/);
  expect(wide[1]).toMatch(/ a new kernel$/);
});

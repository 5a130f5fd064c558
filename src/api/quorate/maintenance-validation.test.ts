import { expect, test } from 'vitest';
import type { Maintenance, MaintenanceSpec } from './maintenance.ts';
import { validateMaintenance, validateMaintenanceUpdate } from './maintenance-validation.ts';

const NOW = Date.parse('2026-11-18T12:00:00Z');
const SPEC: MaintenanceSpec = { nodes: { names: ['a', 'b'] } };
const of = (spec: Partial<MaintenanceSpec>, status: Maintenance['status'] = {}): Maintenance => ({
  metadata: { name: 'm' },
  spec: { ...SPEC, ...spec },
  status,
});
const created = (spec: Partial<MaintenanceSpec>): string[] =>
  validateMaintenance(of(spec), NOW).map(({ message, path }) => `${path}: ${message.split(':')[0] ?? ''}`);
const changed = (spec: Partial<MaintenanceSpec>, old: Maintenance = of({})): string[] =>
  validateMaintenanceUpdate(of(spec), old, NOW).map(({ path }) => path);

test('what most people write is accepted', () => {
  expect(created({})).toEqual([]);
  expect(created({ nodes: { selector: { matchLabels: { pool: 'old' } }, names: ['a'] } })).toEqual([]);
  expect(created({ nodes: { all: true }, pace: { maxNodesAtOnce: '10%', pauseBetweenSteps: '5m' } })).toEqual([]);
});

test('MN-01: which nodes is said in one way, and not by an empty selector', () => {
  expect(created({ nodes: { names: ['a'], all: true } })).toEqual(['spec.nodes: Invalid value']);
  expect(created({ nodes: { selector: {} } })).toEqual(['spec.nodes.selector: Invalid value']);
  expect(created({ nodes: {} })).toEqual(['spec.nodes: Required value']);
  expect(created({ nodes: { names: ['a', 'B', 'a'] } })).toEqual([
    'spec.nodes.names[1]: Invalid value',
    'spec.nodes.names[2]: Duplicate value',
  ]);
});

test.each<[string, Partial<MaintenanceSpec>, string]>([
  [
    'deadline before notBefore',
    { notBefore: '2026-11-20T00:00:00Z', deadline: '2026-11-19T00:00:00Z' },
    'spec.deadline',
  ],
  ['deadline in the past', { deadline: '2026-11-18T11:59:59Z' }, 'spec.deadline'],
  ['uncordon without nodesReturn', { uncordon: 'WhenDrained' }, 'spec.uncordon'],
  ['no node at once', { pace: { maxNodesAtOnce: 0 } }, 'spec.pace.maxNodesAtOnce'],
  ['more nodes than there are', { pace: { maxNodesAtOnce: '101%' } }, 'spec.pace.maxNodesAtOnce'],
  ['no group at once', { pace: { maxGroupsDownAtOnce: 0 } }, 'spec.pace.maxGroupsDownAtOnce'],
  ['a pause of a week', { pace: { pauseBetweenSteps: '168h' } }, 'spec.pace.pauseBetweenSteps'],
  ['an unknown mode', { mode: 'Maybe' as 'BestEffort' }, 'spec.mode'],
  ['a reason of two lines', { reason: 'a\nb' }, 'spec.reason'],
  ['no time to recover', { recoveryTimeout: '1s' }, 'spec.recoveryTimeout'],
  [
    'a zone that is not',
    { windows: [{ start: '02:00', duration: '1h', timeZone: 'Mars/Base' }] },
    'spec.windows[0].timeZone',
  ],
])('MN-02: %s is refused', (_, spec, path) => {
  expect(created(spec).map((text) => text.split(':')[0])).toEqual([path]);
});

test('MN-03: what a plan was made for does not change, and what is cancelled stays so', () => {
  expect(changed({ nodes: { names: ['a'] } })).toEqual(['spec.nodes']);
  expect(changed({ mode: 'BestEffort' })).toEqual(['spec.mode']);
  expect(changed({ pods: { force: true } })).toEqual(['spec.pods']);
  expect(changed({ cancelled: true })).toEqual([]);
  expect(changed({ cancelled: false }, of({ cancelled: true }))).toEqual(['spec.cancelled']);
  expect(changed({ paused: true, reason: 'x', replan: 'Any', pace: { maxGroupsDownAtOnce: 2 } })).toEqual([]);
  const notBefore = '2026-11-20T00:00:00Z';
  expect(changed({ notBefore })).toEqual([]);
  expect(changed({ notBefore }, of({}, { startedAt: '2026-11-18T11:00:00Z' }))).toEqual(['spec.notBefore']);
});

test('after the end only the reason and the time it is kept change', () => {
  const ended = of({}, { phase: 'Done' });
  expect(changed({ reason: 'x', ttlSecondsAfterFinished: 1 }, ended)).toEqual([]);
  expect(changed({ paused: true }, ended)).toEqual(['spec.paused']);
});

test('MN-05: nobody says that a drain is another one’s', () => {
  expect(created({ source: { driver: 'kured', marker: 'annotation' } })).toEqual(['spec.source: Forbidden']);
});

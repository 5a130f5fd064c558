import { expect, test } from 'vitest';
import type { Maintenance } from '../../api/quorate/maintenance.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { nextObserved, type ObservedFacts } from './next.ts';

const NOW = Date.parse('2026-11-17T10:00:00Z');
const mark: ObservedFacts['mark'] = { means: 'Draining', source: { driver: 'kured', marker: 'annotation' } };
const fresh: Maintenance = { metadata: { name: 'observed-n', generation: 1 }, spec: { nodes: { names: ['n'] } } };

/** What it is after a look. */
function after(maintenance: Maintenance, more: Partial<ObservedFacts>): Maintenance | 'Delete' {
  const step = nextObserved({ maintenance, mark, nodeUid: 'u', left: 1, blockers: [], now: NOW, ...more });
  return step.kind === 'Delete' ? 'Delete' : { ...maintenance, status: step.status };
}

const alive = (maintenance: Maintenance | 'Delete'): Maintenance => {
  if (maintenance === 'Delete') throw new Error('It was deleted');
  return maintenance;
};

test('MN-28: running while marked and occupied, then Done, deleted an hour after the mark went', () => {
  const running = alive(after(fresh, {}));
  expect(running.status).toMatchObject({ phase: 'Running', nodes: [{ name: 'n', state: 'Draining' }] });
  const done = alive(after(running, { left: 0, now: NOW + 60_000 }));
  expect(done.status).toMatchObject({ phase: 'Done', finishedAt: formatTime(NOW + 60_000) });
  // The mark stays for hours: it is kept.
  const kept = alive(after(done, { left: 0, now: NOW + 8 * 3_600_000 }));
  expect(kept.status?.finishedAt).toBe(formatTime(NOW + 60_000));
  const gone = alive(after(kept, { left: 0, mark: undefined, now: NOW + 9 * 3_600_000 }));
  expect(gone.status?.finishedAt).toBe(formatTime(NOW + 9 * 3_600_000));
  expect(after(gone, { left: 0, mark: undefined, now: NOW + 10 * 3_600_000 - 1000 })).not.toBe('Delete');
  expect(after(gone, { left: 0, mark: undefined, now: NOW + 10 * 3_600_000 })).toBe('Delete');
});

test('a mark that comes again after one went is another drain', () => {
  const gone = alive(after(alive(after(fresh, {})), { mark: undefined }));
  expect(gone.status?.conditions?.find(({ type }) => type === 'Complete')).toMatchObject({ reason: 'Incomplete' });
  expect(after(gone, { now: NOW + 60_000 })).toBe('Delete');
});

test('what is announced is Planned until it begins', () => {
  expect(alive(after(fresh, { mark: { ...mark, means: 'Planned' }, left: 0 })).status?.phase).toBe('Planned');
});

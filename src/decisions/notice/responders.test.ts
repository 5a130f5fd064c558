import { expect, test } from 'vitest';
import type { Eviction, ResponderStatus } from '../../api/generated/lifecycle-v1alpha1.ts';
import { DEFAULT_RESPONDER } from '../../api/lifecycle/index.ts';
import { hearPod, responderOf } from './responders.ts';

const SAVER = 'example.com/saver';
const OTHER = 'example.com/other';
const via = 'EvictionRequest';

function eviction(states: Record<string, string>, reports: Record<string, Partial<ResponderStatus>> = {}): Eviction {
  const names = Object.keys(states);
  return {
    metadata: {},
    status: {
      targetResponders: names.map((name) => ({ name, priority: 10_000, state: states[name] ?? '' })),
      responders: names.map((name) => ({ name, ...reports[name] })),
    },
  };
}
const done = { completionTime: '2026-11-18T12:00:00Z' };

test.each([
  ['there is no Eviction', undefined, { failed: false }],
  ['nobody had a turn yet', eviction({}), { failed: false }],
  ['it is not among the responders', eviction({ [DEFAULT_RESPONDER]: 'Active' }), { failed: true }],
  ['its turn is still to come', eviction({ [OTHER]: 'Active', [SAVER]: 'Inactive' }), { failed: false }],
  [
    'it has its turn',
    eviction({ [SAVER]: 'Active' }, { [SAVER]: { message: 'saving' } }),
    { word: { via, state: 'Told', message: 'saving' }, failed: false },
  ],
  [
    'it is done and its turn is not over',
    eviction({ [SAVER]: 'Active' }, { [SAVER]: done }),
    { word: { via, state: 'Acknowledged' }, failed: false },
  ],
  [
    'it has completed',
    eviction({ [SAVER]: 'Completed', [OTHER]: 'Active' }),
    { word: { via, state: 'Acknowledged' }, failed: false },
  ],
  [
    'it was passed over',
    eviction({ [SAVER]: 'Interrupted' }),
    { word: { via, state: 'Acknowledged', message: `${SAVER} was silent for too long` }, failed: false },
  ],
] as const)('5.3: what is heard of a member where %s', (_, of, heard) => {
  expect(hearPod(of, SAVER)).toEqual(heard);
});

test('where nobody speaks for the group everybody but the default responder has to be done', () => {
  const all = (saver: string, other: string) =>
    hearPod(eviction({ [SAVER]: saver, [OTHER]: other, [DEFAULT_RESPONDER]: 'Inactive' }), undefined).word?.state;
  expect(all('Active', 'Inactive')).toBe('Told');
  expect(all('Completed', 'Inactive')).toBe('Told');
  expect(all('Completed', 'Active')).toBe('Told');
  expect(all('Completed', 'Interrupted')).toBe('Acknowledged');
  expect(hearPod(eviction({ [DEFAULT_RESPONDER]: 'Active' }), undefined)).toEqual({ failed: true });
});

test('a responder speaks for a group with the channel and the acknowledgement that are its own', () => {
  const acknowledgement = { from: 'Responder', responder: SAVER } as const;
  const channels = [{ type: 'EvictionRequest' } as const];
  expect(responderOf({ duration: '1m', channels, acknowledgement })).toBe(SAVER);
  expect(responderOf({ duration: '1m', acknowledgement })).toBeUndefined();
  expect(responderOf({ duration: '1m', channels, acknowledgement: { from: 'AllMembers' } })).toBeUndefined();
});

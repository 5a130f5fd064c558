import { expect, it } from 'vitest';
import { DisruptionIndex } from './disruption-index.ts';
import { explainEviction } from './explanation.ts';
import { budget, groupUnits, NOW, pod, type PodOptions } from './fixtures.ts';
import { LWS } from '../../api/lws/types.ts';
import { decideTogether } from './together.ts';

const gang = (name: string) => ({
  name,
  terminating: false,
  template: undefined,
  parent: undefined,
  whole: false,
  policy: { minCount: 1 },
});
const member = (name: string, podGroupName: string, more: PodOptions = {}) =>
  pod(name, {
    labels: { app: 'a', [LWS.name]: 'chat', [LWS.groupIndex]: '1' },
    spec: { schedulingGroup: { podGroupName } },
    ...more,
  });

function indexOf(...groups: string[]): DisruptionIndex {
  const index = new DisruptionIndex();
  index.setBudget(budget({ spec: { minAvailable: 0 } }));
  for (const name of groups) index.setPodGroup('default', name, gang(name));
  return index;
}

it('18.8: the group of a LeaderWorkerSet is called by its place in the set, whatever its PodGroup is called', () => {
  const index = indexOf('chat-677');
  for (const name of ['chat-1', 'chat-1-1']) index.setPod(member(name, 'chat-677'));
  expect(index.unitName('default', 'chat-1', 'foo')).toBe('LeaderWorkerSet/chat/1');
  expect(explainEviction(index, { namespace: 'default', name: 'chat-1' }, NOW)?.unit?.name).toBe(
    'LeaderWorkerSet/chat/1',
  );
  const [step] = decideTogether(index, [{ namespace: 'default', name: 'chat-1-1' }], NOW).steps;
  expect(step?.unit).toBe('LeaderWorkerSet/chat/1');
});

it('18.8: leader and workers that are groups of their own keep their own names', () => {
  const index = indexOf('leader', 'workers');
  index.setPod(member('chat-1', 'leader'));
  index.setPod(member('chat-1-1', 'workers'));
  expect(index.unitName('default', 'chat-1', 'foo')).toBe('PodGroup/leader');
  expect(index.unitName('default', 'chat-1-1', 'foo')).toBe('PodGroup/workers');
});

it('18.8: a group that restarts hands its name on to the new one', () => {
  const index = indexOf('old', 'new');
  index.setPod(member('chat-1', 'new'));
  index.setPod(member('chat-1-1', 'old', { terminating: true }));
  expect(index.unitName('default', 'chat-1', 'foo')).toBe('LeaderWorkerSet/chat/1');
  expect(index.unitName('default', 'chat-1-1', 'foo')).toBe('PodGroup/old');
});

it('18.8, 18.13: while a group restarts, what is waited for is the new group and not the one that goes', () => {
  const index = new DisruptionIndex();
  for (const name of ['whole', 'old', 'restarted'])
    index.setPodGroup('default', name, { ...gang(name), policy: { minCount: 3 } });
  for (const name of ['chat-0', 'chat-0-1', 'chat-0-2'])
    index.setPod(member(name, 'whole', { labels: { app: 'a', [LWS.name]: 'chat', [LWS.groupIndex]: '0' } }));
  index.setPod(member('chat-1', 'restarted', { ready: false }));
  for (const name of ['chat-1-1', 'chat-1-2']) index.setPod(member(name, 'old', { terminating: true }));
  index.setBudget(budget({ spec: { minAvailable: 1 }, status: [0, 1, 1, 2], conditions: [groupUnits] }));
  const refused = explainEviction(index, { namespace: 'default', name: 'chat-0-2' }, NOW);
  expect(refused?.remedies.map(({ text }) => text)).toEqual([
    'wait until pod chat-1 becomes Ready again and 2 more pods of group LeaderWorkerSet/chat/1 exist and are Ready',
  ]);
});

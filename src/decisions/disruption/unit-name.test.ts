import { expect, it } from 'vitest';
import { DisruptionIndex } from './disruption-index.ts';
import { explainEviction } from './explanation.ts';
import { budget, NOW, pod, type PodOptions } from './fixtures.ts';
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

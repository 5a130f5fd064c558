import { expect, test } from 'vitest';
import type { Endpoint, EndpointSlice } from '../../../api/generated/discovery-v1.ts';
import { planSlices, type SliceGroup } from './plan-slices.ts';

const rules = { labels: { app: 'web' }, maxEndpoints: 3 };
const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];
const endpoint = (name: string, ready = true): Endpoint => ({
  addresses: [`10.0.0.${name}`],
  conditions: { ready },
  targetRef: { kind: 'Pod', name, uid: name },
});
const slice = (name: string, members: string[], over: Partial<EndpointSlice> = {}): EndpointSlice => ({
  metadata: { name, labels: { app: 'web' } },
  addressType: 'IPv4',
  ports,
  endpoints: members.map((member) => endpoint(member)),
  ...over,
});
const group = (members: string[], over: Partial<SliceGroup> = {}): SliceGroup => ({
  addressType: 'IPv4',
  ports,
  endpoints: members.map((member) => endpoint(member)),
  ...over,
});
const members = ({ endpoints = [] }: Pick<EndpointSlice, 'endpoints'>) =>
  endpoints.map(({ targetRef }) => targetRef?.name);
const show = (existing: EndpointSlice[], groups: SliceGroup[]) => {
  const { create, update, remove } = planSlices(existing, groups, rules);
  return {
    create: create.map(members),
    update: update.map((one) => [one.metadata.name, ...members(one)]),
    remove: remove.map(({ metadata }) => metadata.name),
  };
};

test('planSlices() splits endpoints over new slices', () => {
  expect(show([], [group(['1', '2', '3', '4'])])).toEqual({ create: [['1', '2', '3'], ['4']], update: [], remove: [] });
});

test('planSlices() writes nothing when nothing changed', () => {
  expect(show([slice('a', ['1', '2'])], [group(['1', '2'])])).toEqual({ create: [], update: [], remove: [] });
});

test('planSlices() leaves endpoints where they are and fills up what has room', () => {
  const existing = [slice('a', ['1', '2', '3']), slice('b', ['4'])];
  expect(show(existing, [group(['1', '2', '3', '4', '5'])])).toEqual({
    create: [],
    update: [['b', '4', '5']],
    remove: [],
  });
});

test('planSlices() removes slices left empty and slices of other ports', () => {
  const other = slice('old', ['9'], { ports: [{ name: 'http', port: 81, protocol: 'TCP' }] });
  expect(show([slice('a', ['1']), slice('b', ['2']), other], [group(['2'])])).toEqual({
    create: [],
    update: [],
    remove: ['a', 'old'],
  });
});

test('planSlices() keeps one empty slice for a service without endpoints', () => {
  expect(show([], [group([], { ports: [] })])).toEqual({ create: [[]], update: [], remove: [] });
  expect(
    show([slice('a', ['1'], { ports: [] }), slice('b', ['2'], { ports: [] })], [group([], { ports: [] })]),
  ).toEqual({
    create: [],
    update: [['a']],
    remove: ['b'],
  });
});

test('planSlices() updates an endpoint in place when its conditions change, and all slices when labels do', () => {
  const changed = group([], { endpoints: [endpoint('1', false), endpoint('2')] });
  expect(planSlices([slice('a', ['1', '2'])], [changed], rules).update[0]?.endpoints?.[0]?.conditions?.ready).toBe(
    false,
  );
  const plan = planSlices([slice('a', ['1'])], [group(['1'])], { ...rules, labels: { app: 'new' } });
  expect(plan.update[0]?.metadata.labels).toEqual({ app: 'new' });
});

test('planSlices() compares ports whatever their order', () => {
  const two = [...ports, { name: 'metrics', port: 9090, protocol: 'TCP' }];
  const existing = [slice('a', ['1'], { ports: [...two].reverse() })];
  expect(show(existing, [group(['1'], { ports: two })])).toEqual({ create: [], update: [], remove: [] });
});

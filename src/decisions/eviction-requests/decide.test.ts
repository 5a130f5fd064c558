import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Eviction, EvictionRequest } from '../../api/generated/lifecycle-v1alpha1.ts';
import {
  DEFAULT_RESPONDER,
  HEARTBEAT_DEADLINE_MS,
  validateEviction,
  validateEvictionRequestStatus,
  validateEvictionStatus,
} from '../../api/lifecycle/index.ts';
import { formatTime } from '../../machinery/values/index.ts';
import { isOver } from './conditions.ts';
import { decideEviction } from './decide.ts';
import { afterTry, defaultStep } from './default-responder.ts';
import type { TargetFacts, TargetPod } from './facts.ts';
import { goesTogether } from './group.ts';
import { otherController } from './other-controller.ts';
import { nameOf, nextName, nextRequesters, numberOf } from './requesters.ts';
import { firstTurns } from './turns.ts';

const UID = '5477c2ff-f59f-4eb9-a0be-e54232323faa';
const NOW = Date.parse('2026-11-18T12:00:00Z');
const target = { namespace: 'a', name: 'web', uid: UID };
const request = (name: string, requester = 'example.com/drain', intent = 'Eviction'): EvictionRequest => ({
  metadata: { name, namespace: 'a', uid: `uid-${name}`, generation: 1 },
  spec: { target: { pod: { name: 'web', uid: UID } }, requester, intent },
});
const present: TargetPod = { finished: false, going: false, responders: [] };

test('5.2: Evictions of a pod are counted by its name, cut to fit', () => {
  expect(nextName('web', [])).toBe('pod-1-web');
  expect(nextName('web', ['pod-1-web', 'pod-7-web', 'pod-9-webs', 'other', 'pod-08-web'])).toBe('pod-8-web');
  const long = `${'a'.repeat(246)}.${'b'.repeat(6)}`;
  expect(nameOf(long, 1)).toHaveLength(252);
  expect(numberOf(nameOf(long, 12), long)).toBe(12);
  expect(numberOf('pod-x-web', 'web')).toBeUndefined();
});

test('5.1: when there are too many requesters, those that withdrew are dropped first', () => {
  const before = Array.from({ length: 60 }, (_, at) => ({ name: `old.example.com/${at}`, intent: 'Eviction' }));
  const asking = Array.from({ length: 70 }, (_, at) => request(`r${at}`, `new.example.com/${at}`));
  const next = nextRequesters(asking, before);
  expect(next).toHaveLength(100);
  expect(next.filter(({ intent }) => intent === 'Eviction')).toHaveLength(70);
  const many = Array.from({ length: 120 }, (_, at) => request(`r${at}`, `new.example.com/${at}`));
  expect(nextRequesters(many, before)).toHaveLength(100);
});

test('5.2: of two Evictions that are under way one goes on, and the other ends', () => {
  const eviction = (name: string): Eviction => ({
    metadata: { name, namespace: 'a', uid: name, generation: 1 },
    spec: { target: { pod: { name: 'web', uid: UID } } },
  });
  const evictions = [eviction('by-hand'), eviction('pod-2-web')];
  const plan = decideEviction({ now: NOW, target, requests: [request('r')], evictions, names: [], pod: present });
  expect(plan.current?.metadata.name).toBe('pod-2-web');
  expect(plan.evict).toBe(true);
  const ended = plan.statuses.find(({ eviction: { metadata } }) => metadata.name === 'by-hand');
  expect(ended?.status.conditions).toContainEqual(
    expect.objectContaining({ type: 'Failed', status: 'True', reason: 'CanceledDueToNoRequesters' }),
  );
});

test('ER-14: tries are 5 s apart, then twice as long, up to 15 minutes', () => {
  let tries = undefined as ReturnType<typeof afterTry>['tries'] | undefined;
  const waits: number[] = [];
  for (let at = 0; at < 10; at += 1) {
    const after = afterTry({ name: DEFAULT_RESPONDER }, { refused: 'no' }, { now: NOW, tries });
    waits.push((after.tries.nextAt - NOW) / 1000);
    ({ tries } = after);
  }
  expect(waits).toEqual([5, 10, 20, 40, 80, 160, 320, 640, 900, 900]);
});

test('5.3: who speaks for the group has a turn before the default responder, unless the pod says itself, or has no room', () => {
  const names = (responders: { name: string; priority: number }[]) =>
    firstTurns(responders, 'example.com/saver').targetResponders.map(({ name, priority }) => `${name} ${priority}`);
  const last = `${DEFAULT_RESPONDER} 100`;
  expect(names([])).toEqual(['example.com/saver 10000', last]);
  expect(names([{ name: 'example.com/early', priority: 20_000 }])).toEqual([
    'example.com/early 20000',
    'example.com/saver 10000',
    last,
  ]);
  expect(names([{ name: 'example.com/saver', priority: 5000 }])).toEqual(['example.com/saver 5000', last]);
  const ten = Array.from({ length: 10 }, (_, at) => ({ name: `example.com/x${at}`, priority: 5000 }));
  expect(names(ten)).toHaveLength(11);
  expect(names(ten)).not.toContain('example.com/saver 10000');
});

test('5.3: a pod that only a notice asks for waits for its group', () => {
  const own = { name: DEFAULT_RESPONDER, startTime: formatTime(NOW) };
  const step = (isWanted: boolean) => defaultStep(present, own, { now: NOW, tries: undefined, isWanted });
  expect(step(true)).toEqual({ kind: 'Ask' });
  expect(step(false)).toMatchObject({ kind: 'Report', report: { message: expect.stringContaining('goes as one') } });
});

test('ER-15: what would be there again at once is not asked for', () => {
  const own = { name: DEFAULT_RESPONDER, startTime: formatTime(NOW) };
  const step = defaultStep({ ...present, staysBecause: 'so' }, own, { now: NOW, tries: undefined });
  expect(step).toEqual({
    kind: 'Report',
    report: { completionTime: formatTime(NOW), message: 'not evicted: so' },
  });
});

test.each([
  ['mode all', { whole: true, minCount: 2, healthy: 4, asked: 1 }, true],
  ['mode single, one that can be spared', { whole: false, minCount: 2, healthy: 4, asked: 1 }, false],
  ['mode single, three of four', { whole: false, minCount: 2, healthy: 4, asked: 3 }, true],
  ['a gang that needs all', { whole: false, minCount: 4, healthy: 4, asked: 1 }, true],
  ['a group that is down already', { whole: false, minCount: 4, healthy: 3, asked: 1 }, false],
  ['a pod that is not healthy', { whole: false, minCount: 2, healthy: 2, asked: 0 }, false],
])('ER-19: %s', (_, group, together) => {
  expect(goesTogether(group)).toBe(together);
});

test('ER-20: another controller is known by who wrote the generation it has seen, and by nothing else', () => {
  const written = (manager: string, status: object, subresource = 'status') => ({
    metadata: { managedFields: [{ manager, subresource, fieldsV1: { 'f:status': status } }] },
  });
  const seen = { 'f:observedGeneration': {} };
  expect(otherController([written('quorate', seen)], 'quorate')).toBeUndefined();
  expect(otherController([written('saver', { 'f:responders': {} })], 'quorate')).toBeUndefined();
  expect(otherController([written('kubectl', seen, '')], 'quorate')).toBeUndefined();
  expect(otherController([{ metadata: {} }, written('kube-controller-manager', seen)], 'quorate')).toBe(
    'kube-controller-manager',
  );
});

/** What can happen to a target between two looks of the controller. */
const event = fc.oneof(
  fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(1000, 31_000, HEARTBEAT_DEADLINE_MS) }),
  fc.record({ kind: fc.constant('intent' as const), of: fc.nat(2), intent: fc.constantFrom('Eviction', 'Withdrawn') }),
  fc.record({ kind: fc.constant('delete' as const), of: fc.nat(2) }),
  fc.record({ kind: fc.constant('report' as const), done: fc.boolean() }),
  fc.constantFrom({ kind: 'gone' as const }, { kind: 'finished' as const }, { kind: 'none' as const }),
);

class Model {
  now = NOW;
  pod: TargetPod | undefined;
  requests = [request('r0'), request('r1', 'example.com/b'), request('r2', 'example.com/saver')];
  evictions: Eviction[] = [];

  constructor(responders: number) {
    const list = Array.from({ length: responders }, (_, at) => ({ name: `example.com/x${at}`, priority: 5000 - at }));
    this.pod = { ...present, responders: list };
  }

  get facts(): TargetFacts {
    const { evictions, now, pod, requests } = this;
    return { now, target, requests, evictions, names: evictions.map(({ metadata }) => metadata.name ?? ''), pod };
  }

  happens(one: typeof event extends fc.Arbitrary<infer T> ? T : never): void {
    if (one.kind === 'wait') this.now += one.ms;
    if (one.kind === 'gone') this.pod = undefined;
    if (one.kind === 'finished' && this.pod) this.pod = { ...this.pod, finished: true };
    if (one.kind === 'delete') this.requests = this.requests.filter((_, at) => at !== one.of);
    const asked = one.kind === 'intent' ? this.requests[one.of] : undefined;
    if (one.kind === 'intent' && asked?.spec !== undefined && asked.spec.intent !== one.intent) {
      asked.spec = { ...asked.spec, intent: one.intent };
      asked.metadata = { ...asked.metadata, generation: (asked.metadata.generation ?? 1) + 1 };
    }
    const open = this.evictions.find((eviction) => !isOver(eviction));
    const active = open?.status?.targetResponders?.find(({ state }) => state === 'Active');
    if (one.kind !== 'report' || open === undefined || active === undefined) return;
    const time = formatTime(this.now);
    const news = one.done ? { completionTime: time } : { heartbeatTime: time };
    const responders = open.status?.responders?.map((each) =>
      each.name === active.name && each.completionTime === undefined ? { ...each, ...news } : each,
    );
    this.write(open, { ...open.status, responders });
  }

  /** As the server would take it. */
  write(eviction: Eviction, status: NonNullable<Eviction['status']>): void {
    const next = { ...eviction, status };
    expect(validateEvictionStatus(next, eviction, this.now)).toEqual([]);
    this.evictions = this.evictions.map((one) => (one.metadata.uid === eviction.metadata.uid ? next : one));
  }

  /** Looks until nothing follows any more, and says how often it looked. */
  look(): number {
    for (let passes = 1; passes <= 10; passes += 1) {
      const plan = decideEviction(this.facts);
      if (plan.create !== undefined) {
        expect(validateEviction(plan.create)).toEqual([]);
        const metadata = { ...plan.create.metadata, uid: plan.create.metadata.name, generation: 1 };
        this.evictions.push({ ...plan.create, metadata });
        continue;
      }
      for (const { eviction, status } of plan.statuses) this.write(eviction, status);
      for (const { request: one, status } of plan.requests) {
        expect(validateEvictionRequestStatus({ ...one, status }, one)).toEqual([]);
        this.requests = this.requests.map((each) =>
          each.metadata.uid === one.metadata.uid ? { ...each, status } : each,
        );
      }
      if (!plan.again && plan.statuses.length + plan.requests.length === 0) return passes;
    }
    return Number.POSITIVE_INFINITY;
  }
}

test('A2: whatever happens, every status passes the validation of 1.37, looking ends, and names never repeat', () => {
  fc.assert(
    fc.property(fc.nat(3), fc.array(event, { maxLength: 25 }), (responders, events) => {
      const model = new Model(responders);
      for (const one of events) {
        expect(model.look()).toBeLessThanOrEqual(8);
        model.happens(one);
      }
      model.look();
      const names = model.evictions.map(({ metadata }) => metadata.name);
      expect(new Set(names).size).toBe(names.length);
      expect(model.evictions.filter((eviction) => !isOver(eviction)).length).toBeLessThanOrEqual(1);
    }),
    { numRuns: 500 },
  );
});

import { expect, test } from 'vitest';
import type { NoticeAcknowledgement } from '../../api/quorate/disruption-policy.ts';
import type { GroupNotice, NoticeMember } from '../../api/quorate/notice.ts';
import { seededRandom } from '../../machinery/values/index.ts';
import { decideNotice, HELD_MS, type NoticeFacts } from './decide.ts';
import { type NoticePod, readNoticePod } from './facts.ts';
import type { ChannelWord } from './members.ts';
import { startNotice } from './start.ts';

const START = Date.parse('2026-11-18T10:00:00Z');
const ID = '0f0c1a52-2b39-4b4e-9f3e-6d7f0f0c1a52';

const podOf = (at: number, over: Partial<NoticePod> = {}): NoticePod => ({
  name: `trainer-${at}`,
  uid: `uid-${at}`,
  isUp: true,
  isTold: false,
  acknowledged: false,
  isLeader: false,
  ...over,
});

const podsOf = (count: number): NoticePod[] => Array.from({ length: count }, (_, at) => podOf(at));

interface Setting {
  readonly pods: readonly NoticePod[];
  readonly seconds?: number;
  readonly acknowledgement?: NoticeAcknowledgement;
}

function noticeOf({ acknowledgement, pods, seconds = 60 }: Setting): GroupNotice {
  const terms = { duration: `${seconds}s`, ...(acknowledgement && { acknowledgement }) };
  return startNotice({
    id: ID,
    group: 'PodGroup/trainer',
    policy: 'p',
    terms,
    now: START,
    members: pods,
    requester: 'e',
  });
}

/** What is so some seconds after the start. */
function facts(pods: readonly NoticePod[], atSeconds: number, over: Partial<NoticeFacts> = {}): NoticeFacts {
  const notice = over.notice ?? noticeOf({ pods });
  return {
    notice,
    pods,
    words: new Map(),
    undelivered: false,
    wanted: true,
    begun: false,
    leftMs: 60_000 - atSeconds * 1000,
    now: START + atSeconds * 1000,
    ...over,
  };
}

const verdictOf = (given: NoticeFacts): string => {
  const { verdict } = decideNotice(given);
  return verdict.kind === 'End' ? `${verdict.kind} ${verdict.reason}` : `${verdict.kind} ${verdict.state}`;
};

const said = (members: readonly NoticeMember[]): string => members.map(({ state }) => state).join(' ');

test('NT-01: a group goes with the last of its eight acknowledgements, and not before', () => {
  for (let done = 0; done <= 8; done += 1) {
    const pods = podsOf(8).map((pod, at) => ({ ...pod, acknowledged: at < done }));
    expect(verdictOf(facts(pods, 5 * done))).toBe(done === 8 ? 'Go Done' : 'Wait Running');
  }
});

test('NT-02: one mute member delays to the deadline, and no longer', () => {
  const pods = podsOf(8).map((pod, at) => ({ ...pod, acknowledged: at > 0 }));
  expect(verdictOf(facts(pods, 59.999))).toBe('Wait Running');
  expect(verdictOf(facts(pods, 60))).toBe('Go TimedOut');
});

test('NT-03, NT-04: nothing goes once nobody wants it, whatever was acknowledged', () => {
  for (const acknowledged of [false, true]) {
    const pods = podsOf(4).map((pod) => ({ ...pod, acknowledged }));
    expect(verdictOf(facts(pods, 30, { wanted: false }))).toBe('End Withdrawn');
    expect(verdictOf(facts(pods, 90, { wanted: false }))).toBe('End Withdrawn');
  }
});

test('NT-05: once the first pod went the others follow', () => {
  expect(verdictOf(facts(podsOf(4), 30, { wanted: false, begun: true }))).toBe('Go TimedOut');
});

test.each([
  ['an annotation with another ID', { annotations: { 'policy.quorate.dev/notice-acknowledged': 'other' } }, []],
  ['a condition with another ID', {}, [{ type: 'quorate.dev/NoticeAcknowledged', status: 'True', message: 'other' }]],
  ['a condition that is not True', {}, [{ type: 'quorate.dev/NoticeAcknowledged', status: 'False', message: ID }]],
])('NT-06: %s acknowledges nothing', (_name, metadata, conditions) => {
  const pod = { metadata: { name: 'a', uid: 'a', ...metadata }, status: { conditions } };
  expect(readNoticePod(pod, ID).acknowledged).toBe(false);
});

test('NT-06: the ID of the notice acknowledges it, as annotation and as condition', () => {
  const byAnnotation = { metadata: { annotations: { 'policy.quorate.dev/notice-acknowledged': ID } } };
  const conditions = [{ type: 'quorate.dev/NoticeAcknowledged', status: 'True', message: ID }];
  expect(readNoticePod(byAnnotation, ID).acknowledged).toBe(true);
  expect(readNoticePod({ metadata: {}, status: { conditions } }, ID).acknowledged).toBe(true);
});

test('NT-07: with from: Leader a worker is not waited for, and its word does not count', () => {
  const pods = [podOf(0, { isLeader: true }), podOf(1, { acknowledged: true }), podOf(2)];
  const notice = noticeOf({ pods, acknowledgement: { from: 'Leader' } });
  expect(verdictOf(facts(pods, 10, { notice }))).toBe('Wait Running');
  const led = [podOf(0, { isLeader: true, acknowledged: true }), podOf(1), podOf(2)];
  expect(verdictOf(facts(led, 10, { notice }))).toBe('Go Done');
});

test.each([
  ['worker 0 of a set', { 'leaderworkerset.sigs.k8s.io/worker-index': '0' }, true],
  ['another worker', { 'leaderworkerset.sigs.k8s.io/worker-index': '1', 'policy.quorate.dev/leader': '' }, false],
  ['index 0 of a Job', { 'batch.kubernetes.io/job-completion-index': '0' }, true],
  ['a pod with the label', { 'policy.quorate.dev/leader': 'true' }, true],
  ['any other pod', {}, false],
])('NT-07: the leader, asked of %s', (_name, labels, wanted) => {
  expect(readNoticePod({ metadata: { labels } }, ID).isLeader).toBe(wanted);
});

test('NT-07: without a leader every member is waited for', () => {
  const pods = [podOf(0, { acknowledged: true }), podOf(1)];
  const notice = noticeOf({ pods, acknowledgement: { from: 'Leader' } });
  expect(verdictOf(facts(pods, 10, { notice }))).toBe('Wait Running');
});

test('NT-08: who is gone counts as done; who joins must acknowledge too, by the same deadline', () => {
  const before = podsOf(3);
  const notice = noticeOf({ pods: before });
  const [, second, third] = before.map((pod) => ({ ...pod, acknowledged: true }));
  const left = [second, third].filter((pod) => pod !== undefined);
  expect(verdictOf(facts(left, 20, { notice }))).toBe('Go Done');
  const joined = [...left, podOf(9, { isUp: false })];
  const decided = decideNotice(facts(joined, 30, { notice }));
  expect(said(decided.members)).toBe('Gone Acknowledged Acknowledged Untold');
  expect(decided.verdict).toEqual({ kind: 'Wait', state: 'Running', forMs: 30_000 });
});

test('NT-09: what was acknowledged stays so; who was told and is silent is still waited for', () => {
  const pods = podsOf(2);
  const first = decideNotice(facts([podOf(0, { acknowledged: true }), podOf(1, { isTold: true })], 10));
  const notice = { ...noticeOf({ pods }), members: [...first.members] };
  const later = decideNotice(facts(pods, 20, { notice }));
  expect(said(later.members)).toBe('Acknowledged Told');
  expect(later.verdict.kind).toBe('Wait');
});

test('NT-10: with no member left there is nothing to do', () => {
  expect(verdictOf(facts([], 20, { notice: noticeOf({ pods: podsOf(3) }) }))).toBe('End Superseded');
});

test('NT-12: where nobody can be told, the policy says whether the group goes', () => {
  const pods = podsOf(2);
  const proceed = noticeOf({ pods });
  const refuse = { ...proceed, terms: { ...proceed.terms, onUndelivered: 'Refuse' as const } };
  expect(verdictOf(facts(pods, 10, { notice: proceed, undelivered: true }))).toBe('Wait Undelivered');
  expect(verdictOf(facts(pods, 60, { notice: proceed, undelivered: true }))).toBe('Go TimedOut');
  expect(verdictOf(facts(pods, 10, { notice: refuse, undelivered: true }))).toBe('End NoticeUndelivered');
});

test('NT-13: an answer that names one of two members speaks for that one', () => {
  const words = new Map<string, ChannelWord[]>([
    ['uid-0', [{ via: 'HTTP', state: 'Acknowledged' }]],
    ['uid-1', [{ via: 'HTTP', state: 'Told', message: 'saving' }]],
  ]);
  const decided = decideNotice(facts(podsOf(2), 10, { words }));
  expect(decided.members.map(({ message, state, via }) => [state, via, message])).toEqual([
    ['Acknowledged', 'HTTP', undefined],
    ['Told', 'HTTP', 'saving'],
  ]);
  expect(decided.verdict.kind).toBe('Wait');
});

test.each([
  ['NT-15: a foreign deadline cuts the time', 40_000, 5_000, 5_000],
  ['NT-15: one that is too near leaves none', 20_000, 5_000, 0],
  ['NT-15: a later one changes nothing', 3_600_000, 5_000, 600_000],
])('%s', (_name, inMs, graceMs, wantedMs) => {
  const foreign = { deadline: START + inMs, graceMs };
  const terms = { duration: '10m' };
  const start = { id: ID, group: 'g', policy: 'p', terms, now: START, members: [], requester: 'e', foreign };
  expect(Date.parse(startNotice(start).deadline) - START).toBe(wantedMs);
});

test('NT-16: what budgets hold is asked for until ten minutes have passed, then it stays', () => {
  const pods = podsOf(2).map((pod) => ({ ...pod, acknowledged: true }));
  expect(verdictOf(facts(pods, 70, { heldMs: 0 }))).toBe('Go Done');
  expect(verdictOf(facts(pods, 70, { heldMs: HELD_MS - 1 }))).toBe('Go Done');
  expect(verdictOf(facts(pods, 70, { heldMs: HELD_MS }))).toBe('End HeldTooLong');
});

test('NT-17: what is left is time that passed, not what the clock says', () => {
  const pods = podsOf(2);
  expect(verdictOf(facts(pods, 10, { now: START + 3_610_000 }))).toBe('Wait Running');
  expect(verdictOf(facts(pods, 60, { now: START - 3_600_000 }))).toBe('Go TimedOut');
});

test('a member that was not up at the start is told and not waited for', () => {
  const pods = [podOf(0, { isUp: false }), podOf(1, { acknowledged: true })];
  const decided = decideNotice(facts(pods, 5));
  expect(said(decided.members)).toBe('Excused Acknowledged');
  expect(decided.verdict).toEqual({ kind: 'Go', state: 'Done' });
});

test('from: Nobody waits for the deadline', () => {
  const pods = podsOf(2).map((pod) => ({ ...pod, acknowledged: true }));
  const notice = noticeOf({ pods, acknowledgement: { from: 'Nobody' } });
  expect(verdictOf(facts(pods, 59, { notice }))).toBe('Wait Running');
  expect(verdictOf(facts(pods, 60, { notice }))).toBe('Go TimedOut');
});

test('from: Responder listens to its channel alone', () => {
  const notice = noticeOf({ pods: podsOf(1), acknowledgement: { from: 'Responder', responder: 'example.com/saver' } });
  expect(verdictOf(facts([podOf(0, { acknowledged: true })], 10, { notice }))).toBe('Wait Running');
  const words = new Map<string, ChannelWord[]>([['uid-0', [{ via: 'EvictionRequest', state: 'Acknowledged' }]]]);
  expect(verdictOf(facts(podsOf(1), 10, { notice, words }))).toBe('Go Done');
});

test('whatever happens, a group goes only when it may, and an acknowledgement is never forgotten', () => {
  const given = process.env['QUORATE_SEED'];
  const seed = given === 'random' ? Date.now() % 1_000_000 : Number(given ?? 21);
  const random = seededRandom(seed);
  const chance = (part: number): boolean => random() < part;
  for (let round = 0; round < 300; round += 1) {
    let pods = podsOf(1 + Math.floor(random() * 5)).map((pod) => ({ ...pod, isUp: chance(0.8) }));
    let notice = noticeOf({ pods });
    const saved = new Set<string>();
    for (let second = 0; second <= 62; second += 1 + Math.floor(random() * 9)) {
      pods = pods
        .filter(() => !chance(0.03))
        .map((pod) => ({ ...pod, acknowledged: chance(0.2), isTold: pod.isTold || chance(0.5) }));
      if (chance(0.05)) pods.push(podOf(100 + second));
      for (const { acknowledged, uid } of pods) if (acknowledged) saved.add(uid);
      const { members, verdict } = decideNotice(facts(pods, second, { notice }));
      const excused = new Set(members.filter(({ state }) => state === 'Excused').map(({ uid }) => uid));
      const waited = pods.filter(({ uid }) => !saved.has(uid) && !excused.has(uid));
      const where = `seed ${seed}, round ${round}, second ${second}`;
      for (const { state, uid } of members) {
        if (saved.has(uid)) expect(['Acknowledged', 'Gone'], where).toContain(state);
      }
      if (pods.length === 0) expect(verdict.kind, where).toBe('End');
      else expect(verdict.kind, where).toBe(waited.length === 0 || second >= 60 ? 'Go' : 'Wait');
      notice = { ...notice, members: [...members] };
      if (verdict.kind !== 'Wait') break;
    }
  }
});

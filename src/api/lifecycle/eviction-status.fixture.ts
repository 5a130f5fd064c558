/** Reads testdata/eviction-status.txt, whose head explains its words. */
import { readFileSync } from 'node:fs';
import { formatTime } from '../../machinery/values/index.ts';
import type { EvictionStatus, ResponderStatus } from '../generated/lifecycle-v1alpha1.ts';
import type { Condition } from '../generated/meta-v1.ts';

export const NOW = Date.parse('2026-11-18T12:00:00Z');

export interface StatusCase {
  readonly name: string;
  readonly old: EvictionStatus;
  readonly status: EvictionStatus;
  readonly now: number;
  /** Path and rule of each refusal; none where it is accepted. */
  readonly refused: readonly string[];
}

type Change = (status: Filled, args: readonly string[]) => void;
interface Filled extends EvictionStatus {
  conditions: Condition[];
  requesters: NonNullable<EvictionStatus['requesters']>;
  targetResponders: NonNullable<EvictionStatus['targetResponders']>;
  responders: ResponderStatus[];
}

const timeAt = (seconds: number): string => formatTime(NOW + seconds * 1000);

const time =
  (field: 'startTime' | 'heartbeatTime' | 'expectedCompletionTime' | 'completionTime'): Change =>
  ({ responders }, [seconds, from = '0', to = String(Number(from) + 1)]) => {
    for (let at = Number(from); at < Number(to); at += 1) {
      (responders[at] as ResponderStatus)[field] = seconds === undefined ? undefined : timeAt(Number(seconds) + at);
    }
  };

const addCondition: Change = ({ conditions }, [type = '', isTrue, reason = `${type}Reason`]) => {
  const status = isTrue === 'true' ? 'True' : 'False';
  conditions.push({ type, status, reason, message: '', lastTransitionTime: timeAt(0) });
};
const addTargets: Change = ({ responders, targetResponders }, names) => {
  const first = 5000 - responders.length;
  for (const [at, name] of names.entries()) targetResponders.push({ name, priority: first - at, state: 'Inactive' });
};
const addReports: Change = ({ responders }, names) => {
  for (const name of names) responders.push({ name });
};

const CHANGES: Readonly<Record<string, Change>> = {
  started: time('startTime'),
  beat: time('heartbeatTime'),
  expects: time('expectedCompletionTime'),
  done: time('completionTime'),
  full(status, [start = '', end = '', ...which]) {
    time('startTime')(status, [start, ...which]);
    for (const field of ['heartbeatTime', 'expectedCompletionTime', 'completionTime'] as const) {
      time(field)(status, [end, ...which]);
    }
  },
  says({ responders }, [words = '']) {
    const message = words === '4001 x' ? 'x'.repeat(4001) : words;
    responders[0] = { ...(responders[0] as ResponderStatus), message };
  },
  state({ targetResponders }, [state = '', at = '0']) {
    const target = targetResponders[Number(at)];
    if (target !== undefined) target.state = state;
  },
  completed({ targetResponders }, [count]) {
    for (const target of targetResponders.slice(0, Number(count))) target.state = 'Completed';
  },
  priority({ targetResponders }, [value]) {
    const target = targetResponders[0];
    if (target !== undefined) target.priority = value === undefined ? undefined : Number(value);
  },
  condition: addCondition,
  conditions(status, [count]) {
    for (let at = 0; at < Number(count); at += 1) addCondition(status, [`Condition${at}`, 'true']);
  },
  badCondition: (status) => addCondition(status, ['-bad-name', 'true', '-Reason']),
  seen(status, [generation]) {
    status.observedGeneration = generation === undefined ? undefined : Number(generation);
  },
  requesters({ requesters }, [intent = '', ...names]) {
    for (const name of names) requesters.push({ name, intent });
  },
  manyRequesters({ requesters }, [intent = '', count]) {
    for (let at = 0; at < Number(count); at += 1) requesters.push({ name: `foo.example.com/bar-${at}`, intent });
  },
  targets: addTargets,
  statuses: addReports,
  both(status, names) {
    addTargets(status, names);
    addReports(status, names);
  },
};

function statusOf(text: string): EvictionStatus {
  if (text === 'nothing') return {};
  const [counts = '', ...words] = text.match(/[\w/]+\([^)]*\)|[\w/]+/g) ?? [];
  const [targets = '0', reports = targets] = counts.split('/');
  const status: Filled = {
    observedGeneration: 1,
    conditions: [],
    requesters: [],
    targetResponders: [],
    responders: [],
  };
  for (let at = 0; at < Number(targets); at += 1) {
    const state = at === 0 ? 'Active' : 'Inactive';
    status.targetResponders.push({ name: `responder.example.com/bar${at}`, priority: 5000 - at, state });
  }
  for (let at = 0; at < Number(reports); at += 1) {
    status.responders.push({ name: `responder.example.com/bar${at}`, ...(at === 0 && { startTime: timeAt(0) }) });
  }
  for (const word of words) {
    const [, name = word, args = ''] = /^(\w+)\((.*)\)$/.exec(word) ?? [];
    const change = CHANGES[name];
    if (change === undefined) throw new Error(`Unknown word in eviction-status.txt: ${word}`);
    change(status, splitArguments(name, args));
  }
  return status;
}

/** An empty first argument is an empty name or intent, where one can be given. */
function splitArguments(name: string, args: string): string[] {
  if (args === '' && !['state', 'targets', 'statuses'].includes(name)) return [];
  return args.split(',').map((arg) => arg.trim());
}

export function readStatusCases(): StatusCase[] {
  const text = readFileSync(new URL('testdata/eviction-status.txt', import.meta.url), 'utf8');
  return text
    .split(/^# /m)
    .slice(1)
    .map((block) => {
      const [name = '', ...lines] = block.trim().split('\n');
      const read = (word: string): string | undefined =>
        lines.find((line) => line.startsWith(`${word}: `))?.slice(word.length + 2);
      return {
        name,
        old: statusOf(read('old') ?? ''),
        status: statusOf(read('new') ?? ''),
        now: NOW + Number(read('at') ?? 0) * 1000,
        refused: read('refused')?.split(', ') ?? [],
      };
    });
}

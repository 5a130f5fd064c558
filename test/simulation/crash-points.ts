/**
 * Crash points, in the way of Sieve: one run without any fault says how many requests that change something each process
 * makes; then each of these is a point where the process dies right before it, right after it, or stands still and goes
 * on with what it knew. The end must be the same every time.
 */
import type { History, StoredObject } from './history.ts';
import { isFinished, isReady } from './oracles/pods.ts';
import { type Happening, type HostKind, type Plan, type ProcessName, processesOf } from './plan.ts';
import { type Outcome, simulate } from './simulate.ts';

/** Everything that controllers do for these objects: they come, run, are drained, deleted, evicted and grow. */
const STORY: Plan = {
  seed: 4242,
  host: 'embedded',
  nodes: 4,
  gangs: [
    { name: 'gang-0', size: 3, minimum: 2 },
    { name: 'gang-1', size: 2, minimum: 2 },
  ],
  plain: 2,
  steps: [
    { atMs: 1000, what: { kind: 'drain', node: 0 } },
    { atMs: 4000, what: { kind: 'evict', choice: 1, twice: false } },
    { atMs: 12_000, what: { kind: 'delete pod', choice: 3 } },
    { atMs: 15_000, what: { kind: 'unready', choice: 2, forMs: 5000 } },
    { atMs: 24_000, what: { kind: 'scale', choice: 2, by: 1 } },
    { atMs: 30_000, what: { kind: 'drain', node: 1 } },
  ],
};

/**
 * Gangs that are told before they go: one whose last member stays mute, one that stays because that is taken back, and
 * the same again, acknowledged by all.
 */
const TOLD: Plan = {
  ...STORY,
  toldSeconds: 20,
  steps: [
    { atMs: 1000, what: { kind: 'ask for group', name: 'mute', gang: 'gang-0' } },
    { atMs: 4000, what: { kind: 'acknowledge', gang: 'gang-0', members: 2 } },
    { atMs: 32_000, what: { kind: 'ask for group', name: 'taken-back', gang: 'gang-1' } },
    { atMs: 40_000, what: { kind: 'withdraw', name: 'taken-back' } },
    { atMs: 75_000, what: { kind: 'ask for group', name: 'agreed', gang: 'gang-1' } },
    { atMs: 80_000, what: { kind: 'acknowledge', gang: 'gang-1', members: 2 } },
  ],
};

export const STORIES = { drains: STORY, notice: TOLD } as const;
export type StoryName = keyof typeof STORIES;

/** On a cluster nothing but evictions may take pods. */
const storyOn = (host: HostKind, story: StoryName): Plan => ({
  ...STORIES[story],
  host,
  steps: STORIES[story].steps.filter(({ what }) => host === 'embedded' || what.kind !== 'delete pod'),
});

const VARIANTS = [
  { name: 'killed before', when: 'before', downMs: 0, pauses: false },
  { name: 'killed after', when: 'after', downMs: 0, pauses: false },
  { name: 'away from', when: 'before', downMs: 30_000, pauses: false },
  { name: 'paused at', when: 'after', downMs: 15_000, pauses: true },
] as const;

export interface CrashPoint {
  readonly process: ProcessName;
  readonly write: number;
  readonly variant: (typeof VARIANTS)[number];
}

export interface CrashPointResult {
  readonly point: CrashPoint;
  readonly outcome: Outcome;
  /** What is other than without the crash; undefined where nothing is. */
  readonly difference: string | undefined;
}

export const nameOf = ({ process, variant, write }: CrashPoint): string => `${process} ${variant.name} write ${write}`;

/** The story without faults: its end, and all crash points in it. */
export async function findCrashPoints(
  host: HostKind,
  story: StoryName = 'drains',
): Promise<{ end: string; points: CrashPoint[] }> {
  const points: CrashPoint[] = [];
  let end = '';
  const { violation } = await simulate(storyOn(host, story), {
    end(world) {
      end = endOf(world.history);
      if (host === 'embedded') for (const text of world.unrecorded()) throw new Error(`the story by itself: ${text}`);
      for (const process of processesOf({ host }))
        for (let write = 0; write < world.writesOf(process); write += 1)
          for (const variant of VARIANTS) points.push({ process, write, variant });
    },
  });
  if (violation !== undefined) throw new Error(`the story breaks "${violation.rule}" by itself: ${violation.text}`);
  return { end, points };
}

export async function tryCrashPoint(
  host: HostKind,
  point: CrashPoint,
  { expected, story = 'drains' }: { expected: string; story?: StoryName },
): Promise<CrashPointResult> {
  const { downMs, pauses, when } = point.variant;
  const crash: Happening = { kind: 'kill', process: point.process, afterWrites: point.write, when, downMs, pauses };
  let end = '';
  let unrecorded: string[] = [];
  const outcome = await simulate(
    { ...storyOn(host, story), first: [crash] },
    {
      end(world) {
        end = endOf(world.history);
        unrecorded = host === 'embedded' ? world.unrecorded() : [];
      },
    },
  );
  if (unrecorded.length > 0) return { point, outcome, difference: unrecorded.join('; ') };
  const difference = end === expected ? undefined : differenceOf(expected.split('\n'), end.split('\n'));
  return { point, outcome, difference };
}

function differenceOf(expected: readonly string[], found: readonly string[]): string {
  const missing = expected.filter((line) => !found.includes(line));
  const surplus = found.filter((line) => !expected.includes(line));
  return `instead of "${missing.join('; ')}" there is "${surplus.join('; ')}"`;
}

/** What came of everything, without names and times that differ from run to run. */
function endOf(history: History): string {
  const lines: string[] = [];
  for (const [key, object] of history.state) {
    const [, , , plural = '', ...rest] = key.split('/');
    const line = lineOf(plural, object);
    if (line !== undefined) lines.push(`${plural} ${plural === 'pods' ? '' : rest.join('/')} ${line}`);
  }
  return lines.sort((one, other) => one.localeCompare(other)).join('\n');
}

function lineOf(plural: string, { metadata, spec, status }: StoredObject): string | undefined {
  switch (plural) {
    case 'pods': {
      const pod = { metadata, spec, status } as StoredObject;
      return `of ${metadata.labels?.['set']} ready ${isReady(pod)} finished ${isFinished(pod)}`;
    }
    case 'replicasets':
      return `${spec.replicas} asked ${status?.replicas} there ${status?.readyReplicas} ready`;
    case 'poddisruptionbudgets':
      return JSON.stringify({ ...status, conditions: statesOf(status?.conditions) });
    case 'groupevictions': {
      const went = ['Done', 'TimedOut'].includes(status?.notice?.state);
      // Who hears of it late may see its time pass first.
      return `${went ? 'went' : status?.notice?.state} ${statesOf(status?.conditions).join()}`;
    }
    case 'podgroups':
      return JSON.stringify(statesOf(status?.conditions));
    case 'nodes':
      return `unschedulable ${spec?.unschedulable === true} ${JSON.stringify(spec?.taints ?? [])}`;
    default:
      return undefined;
  }
}

const statesOf = (conditions: readonly { type: string; status: string; reason?: string }[] | undefined): string[] =>
  (conditions ?? []).map(({ reason, status, type }) => `${type} ${status} ${reason}`).sort();

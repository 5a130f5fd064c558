import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Job, JobStatus } from '../../../api/generated/batch-v1.ts';
import type { Pod } from '../../../api/generated/core-v1.ts';
import { INDEX_ANNOTATION, isTracked, TRACKING_FINALIZER } from './pod-facts.ts';
import { settleCounts, trackPods } from './track.ts';
import { viewJob } from './view.ts';

type Crash = 'before the first write' | 'before release' | 'amid release' | 'before the second write' | 'never';
const crashes: readonly Crash[] = [
  'before the first write',
  'before release',
  'amid release',
  'before the second write',
  'never',
];

interface World {
  status: JobStatus;
  pods: Pod[];
}

/** One pass of the controller that may die on its way; what it wrote before stays written. */
function pass(job: Job, world: World, crash: Crash): void {
  const view = viewJob({ ...job, status: world.status }, world.pods, 0);
  const tracking = trackPods(view, world.status, undefined);
  if (crash === 'before the first write') return;
  world.status = tracking.status;
  if (crash === 'before release') return;
  const released = crash === 'amid release' ? tracking.release.slice(0, 1) : tracking.release;
  const uids = new Set(released.map(({ metadata }) => metadata.uid));
  world.pods = world.pods.map((pod) =>
    uids.has(pod.metadata.uid) ? { ...pod, metadata: { ...pod.metadata, finalizers: [] } } : pod,
  );
  if (crash === 'amid release' || crash === 'before the second write') return;
  world.status = settleCounts(world.status, world.pods.filter(isTracked));
}

const pod = (uid: number, phase: string, index?: number): Pod => ({
  metadata: {
    uid: String(uid),
    name: `p${uid}`,
    finalizers: [TRACKING_FINALIZER],
    ...(index !== undefined && { annotations: { [INDEX_ANNOTATION]: String(index) } }),
  },
  status: { phase },
});
const phases = fc.array(fc.constantFrom('Succeeded', 'Failed', 'Running'), { maxLength: 12 });
const story = fc.array(fc.record({ crash: fc.constantFrom(...crashes), vanish: fc.boolean() }), { maxLength: 12 });

test('every pod that ended is counted once, wherever the controller dies and whenever released pods vanish', () => {
  const job: Job = { metadata: { name: 'j' }, spec: { completions: 100, parallelism: 100, template: {} } };
  fc.assert(
    fc.property(phases, story, (given, events) => {
      const world: World = { status: {}, pods: given.map((phase, uid) => pod(uid, phase)) };
      for (const { crash, vanish } of [
        ...events,
        { crash: 'never', vanish: true },
        { crash: 'never', vanish: true },
      ] as const) {
        pass(job, world, crash);
        if (vanish) world.pods = world.pods.filter(isTracked);
      }
      const count = (phase: string) => given.filter((other) => other === phase).length;
      expect(world.status.succeeded ?? 0).toBe(count('Succeeded'));
      expect(world.status.failed ?? 0).toBe(count('Failed'));
      expect(world.pods.every(({ status }) => status?.phase === 'Running')).toBe(true);
    }),
  );
});

test('an index that succeeded stays so, however often its pods are seen or lost', () => {
  const spec = { completionMode: 'Indexed', completions: 6, parallelism: 6, template: {} };
  const job: Job = { metadata: { name: 'j' }, spec };
  const indexes = fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 12 });
  fc.assert(
    fc.property(indexes, story, (given, events) => {
      const world: World = { status: {}, pods: given.map((index, uid) => pod(uid, 'Succeeded', index)) };
      for (const { crash, vanish } of [...events, { crash: 'never', vanish: true }] as const) {
        pass(job, world, crash);
        if (vanish) world.pods = world.pods.filter(isTracked);
      }
      const valid = new Set(given.filter((index) => index < 6));
      expect(world.status.succeeded ?? 0).toBe(valid.size);
    }),
  );
});

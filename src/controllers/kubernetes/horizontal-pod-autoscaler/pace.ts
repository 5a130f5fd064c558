/** How fast an autoscaler may move: past recommendations hold it back, policies limit its speed. Pure. */
import type { HPAScalingRules } from '../../../api/generated/autoscaling-v2.ts';

export interface PastRecommendation {
  readonly at: number;
  readonly replicas: number;
}

/** What an autoscaler recommended and did lately. `change` is positive in both directions. */
export interface ScalingHistory {
  readonly recommendations: readonly PastRecommendation[];
  readonly ups: readonly { readonly at: number; readonly change: number }[];
  readonly downs: readonly { readonly at: number; readonly change: number }[];
}

export const emptyHistory: ScalingHistory = { recommendations: [], ups: [], downs: [] };

export interface PaceQuestion {
  readonly current: number;
  readonly recommended: number;
  readonly min: number;
  readonly max: number;
  readonly up: HPAScalingRules;
  readonly down: HPAScalingRules;
  readonly history: ScalingHistory;
  readonly now: number;
}

export type PaceReason =
  | 'DesiredWithinRange'
  | 'ScaleUpLimit'
  | 'TooManyReplicas'
  | 'ScaleDownLimit'
  | 'TooFewReplicas';

export interface PaceVerdict {
  readonly replicas: number;
  /** Why the recommendation was not followed at once; undefined when it was. */
  readonly stabilized: 'ScaleUpStabilized' | 'ScaleDownStabilized' | undefined;
  readonly limited: boolean;
  readonly reason: PaceReason;
}

export const DEFAULT_DOWN_WINDOW_SECONDS = 300;

export function decidePace(question: PaceQuestion): PaceVerdict {
  const { current, recommended } = question;
  const stable = stabilize(question);
  const stabilized =
    stable === recommended ? undefined : recommended >= current ? 'ScaleUpStabilized' : 'ScaleDownStabilized';
  const { reason, replicas } = limit(question, stable);
  return { replicas, stabilized, limited: replicas !== stable, reason };
}

/** Upwards the lowest, downwards the highest recommendation of its window counts. */
function stabilize({ current, down, history, now, recommended, up }: PaceQuestion): number {
  const upSince = now - (up.stabilizationWindowSeconds ?? 0) * 1000;
  const downSince = now - (down.stabilizationWindowSeconds ?? DEFAULT_DOWN_WINDOW_SECONDS) * 1000;
  let lowest = recommended;
  let highest = recommended;
  for (const { at, replicas } of history.recommendations) {
    if (at > upSince) lowest = Math.min(lowest, replicas);
    if (at > downSince) highest = Math.max(highest, replicas);
  }
  return Math.min(Math.max(current, lowest), highest);
}

function limit(question: PaceQuestion, stable: number): { replicas: number; reason: PaceReason } {
  const { current, max, min } = question;
  if (stable > current) {
    const fastest = Math.max(furthest(question, 'up'), current);
    const allowed = Math.min(max, fastest);
    if (stable > allowed) return { replicas: allowed, reason: fastest < max ? 'ScaleUpLimit' : 'TooManyReplicas' };
  } else if (stable < current) {
    const fastest = Math.min(furthest(question, 'down'), current);
    const allowed = Math.max(min, fastest);
    if (stable < allowed) return { replicas: allowed, reason: fastest > min ? 'ScaleDownLimit' : 'TooFewReplicas' };
  }
  return { replicas: stable, reason: 'DesiredWithinRange' };
}

/** How far the policies let the size go now, counting what was done within each policy's period. */
function furthest({ current, down, history, now, up }: PaceQuestion, direction: 'up' | 'down'): number {
  const rules = direction === 'up' ? up : down;
  if (rules.selectPolicy === 'Disabled') return current;
  const reach = (rules.policies ?? []).map(({ periodSeconds, type, value }) => {
    const since = now - periodSeconds * 1000;
    const changed = (events: ScalingHistory['ups']): number =>
      events.reduce((total, { at, change }) => (at > since ? total + change : total), 0);
    const start = current - changed(history.ups) + changed(history.downs);
    if (direction === 'up') return type === 'Pods' ? start + value : Math.ceil(start * (1 + value / 100));
    return type === 'Pods' ? start - value : Math.trunc(start * (1 - value / 100));
  });
  // The largest change is the highest number upwards and the lowest downwards.
  const wantsLargest = rules.selectPolicy !== 'Min';
  return (direction === 'up') === wantsLargest ? Math.max(...reach) : Math.min(...reach);
}

const LONGEST_WINDOW_MS = 3600_000;

export function remember(
  history: ScalingHistory,
  now: number,
  news: { recommended?: number; change?: number },
): ScalingHistory {
  const recent = <T extends { at: number }>(samples: readonly T[]): T[] =>
    samples.filter(({ at }) => at > now - LONGEST_WINDOW_MS);
  const { change = 0, recommended } = news;
  return {
    recommendations: [
      ...recent(history.recommendations),
      ...(recommended === undefined ? [] : [{ at: now, replicas: recommended }]),
    ],
    ups: [...recent(history.ups), ...(change > 0 ? [{ at: now, change }] : [])],
    downs: [...recent(history.downs), ...(change < 0 ? [{ at: now, change: -change }] : [])],
  };
}

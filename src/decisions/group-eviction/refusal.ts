import type { GroupEvictionSpec } from '../../api/quorate/group-eviction.ts';
import { type DisruptionIndex, explainStep, formatRefusal, withCauses } from '../disruption/index.ts';
import type { Refused } from '../refusal-status.ts';
import { formatUnavailabilityRefusal } from '../unavailability/index.ts';
import type { GroupVerdict } from './decide.ts';
import { formatGroup } from './target.ts';

export interface RefusedGroup {
  readonly spec: GroupEvictionSpec;
  readonly members: number;
  readonly index: DisruptionIndex;
  readonly nowMs: number;
  readonly compat?: boolean | undefined;
  /** The one pod that was asked for, where its group goes as one. */
  readonly evicted?: string | undefined;
}

/** The answer to whoever asked for one pod of a group that is on its way as one. Drains ask again, and find it going. */
export function groupGoing(
  pod: string,
  group: string,
  { eviction, members }: { eviction: string; members: number },
): Refused {
  const message = `Cannot evict pod ${pod}: its group ${group} goes as one: ${members} members are told to go (GroupEviction ${eviction})`;
  return { code: 429, reason: 'TooManyRequests', message, causes: [{ reason: 'GroupGoing', message }] };
}

/** The answer to a refused group: which member is in the way, then what a single eviction of it would be told. */
export function formatGroupRefusal(
  verdict: Extract<GroupVerdict, { allowed: false }>,
  { compat, evicted, index, members, nowMs, spec }: RefusedGroup,
): Refused {
  const pod = verdict.reason === 'DisruptionBudget' ? verdict.step.pod.name : (verdict.pod.metadata.name ?? '');
  const start =
    evicted === undefined
      ? `Cannot evict group ${formatGroup(spec)} (${members} pods): pod ${pod}: `
      : `Cannot evict pod ${evicted}: its group goes as one: ${members} members: pod ${pod}: `;
  if (verdict.reason === 'UnavailableBudget') {
    const answer = formatUnavailabilityRefusal('EVICT', verdict.refusals, { compat: compat ?? false });
    return { ...answer, message: start + answer.message };
  }
  if (verdict.step.verdict.allowed) throw new Error('Cannot format the refusal of a step that was granted');
  const answer = formatRefusal(verdict.step.verdict);
  const told = withCauses(answer, explainStep(index, verdict.step, nowMs), nowMs);
  return { ...told, message: start + (answer.cause ?? answer.message) };
}

/** What someone lacks who may create GroupEvictions but not evict pods. */
export const MISSING_RIGHT = 'cannot evict a group: it takes the right to create pods/eviction';

import type { GroupEvictionSpec } from '../../api/quorate/group-eviction.ts';
import { type DisruptionIndex, explainStep, formatRefusal, withCauses } from '../disruption/index.ts';
import type { Refused } from '../refusal-status.ts';
import { formatUnavailabilityRefusal } from '../unavailability/index.ts';
import type { GroupVerdict } from './decide.ts';
import { formatGroup } from './target.ts';

/** The answer to a refused group: which member is in the way, then what a single eviction of it would be told. */
export function formatGroupRefusal(
  verdict: Extract<GroupVerdict, { allowed: false }>,
  {
    compat,
    index,
    members,
    nowMs,
    spec,
  }: { spec: GroupEvictionSpec; members: number; index: DisruptionIndex; nowMs: number; compat?: boolean | undefined },
): Refused {
  const pod = verdict.reason === 'DisruptionBudget' ? verdict.step.pod.name : (verdict.pod.metadata.name ?? '');
  const start = `Cannot evict group ${formatGroup(spec)} (${members} pods): pod ${pod}: `;
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

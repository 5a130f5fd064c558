import type { Eviction, ResponderStatus, TargetResponder } from '../../../api/generated/lifecycle-v1alpha1.ts';
import { FINAL_STATES, validateEviction, validateEvictionStatus } from '../../../api/lifecycle/index.ts';
import { formatAge, parseTime } from '../../../machinery/values/index.ts';
import { ageColumn, nameColumn, NONE, since, table, text, wide } from '../../registry/columns.ts';
import { strategyOf } from '../../registry/strategy.ts';
import { keepMetadata, statusColumn, targetColumns, UNSET } from './shared.ts';

interface Turn {
  readonly target: TargetResponder;
  readonly report: ResponderStatus | undefined;
}

/** The responder whose turn it is, or the last one that had its turn. */
function turnOf({ status }: Eviction): Turn | undefined {
  const targets = status?.targetResponders ?? [];
  const target =
    targets.findLast(({ state }) => state === 'Active') ??
    targets.findLast(({ state }) => FINAL_STATES.includes(state as never));
  if (target === undefined) return undefined;
  return { target, report: status?.responders?.find(({ name }) => name === target.name) };
}

function activeText(eviction: Eviction): string {
  const targets = eviction.status?.targetResponders ?? [];
  const begun = targets.filter(({ state }) => state === 'Active' || FINAL_STATES.includes(state as never)).length;
  return `${turnOf(eviction)?.target.name ?? UNSET} (${begun}/${targets.length})`;
}

function progressText(eviction: Eviction, now: number): string {
  const { report, target } = turnOf(eviction) ?? {};
  if (target === undefined || report === undefined) return UNSET;
  const { completionTime, startTime } = report;
  if (target.state === 'Active' && startTime !== undefined) return `Started (${since(startTime, now)} ago)`;
  if (target.state === 'Completed' && completionTime !== undefined) {
    return `Completed (${since(completionTime, now)} ago)`;
  }
  return target.state;
}

function finishText(eviction: Eviction, now: number): string {
  const { report, target } = turnOf(eviction) ?? {};
  if (target === undefined || report === undefined) return '<unknown>';
  if (target.state !== 'Active') return '-';
  const expected = parseTime(report.expectedCompletionTime);
  if (expected === undefined || report.startTime === undefined) return '<unknown>';
  return expected > now ? `in ${formatAge(expected - now)}` : `${formatAge(now - expected)} ago`;
}

function requestersText({ status }: Eviction): string {
  const all = status?.requesters ?? [];
  const [first, ...more] = all
    .filter(({ intent }) => intent !== 'Withdrawn')
    .map(({ name }) => name)
    .sort();
  if (first === undefined) return all.length > 0 ? '<withdrawn>' : NONE;
  return more.length > 0 ? `${first} + ${more.length} more...` : first;
}

export const evictionStrategy = strategyOf<Eviction>({
  prepareForCreate(object) {
    delete object.status;
  },
  prepareForStatusUpdate: (object, old) => keepMetadata(object, old),
  validate: (object) => validateEviction(object),
  ratchets: true,
  validateUpdate: (object, old) => validateEviction(object, old),
  validateStatusUpdate: (object, old, _version, { now }) => validateEvictionStatus(object, old, now),
  generation: 'spec',
  unconditionalUpdate: false,
  table: table([
    nameColumn,
    ...targetColumns<Eviction>(),
    statusColumn,
    text('Active Responder', 'Whose turn it is, and how many had theirs', activeText),
    text('Responder Status', 'What it says of itself', (object, { now }) => progressText(object, now)),
    text('Responder Expected Finish', 'When it means to be done', (object, { now }) => finishText(object, now)),
    text('Requesters', 'Who asks', requestersText),
    ageColumn,
    wide(
      text('Responder Heartbeat', 'When it was heard of last', (object, { now }) => {
        const heartbeat = turnOf(object)?.report?.heartbeatTime;
        return heartbeat === undefined ? UNSET : `${since(heartbeat, now)} ago`;
      }),
    ),
    wide(
      text(
        'Responder Status Message',
        'In its own words',
        (object) => turnOf(object)?.report?.message?.trim() || UNSET,
      ),
    ),
  ]),
});

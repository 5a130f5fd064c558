import type { Condition } from '../../api/generated/meta-v1.ts';
import {
  isFinished,
  type Maintenance,
  type MaintenanceBlocker,
  type MaintenanceStatus,
} from '../../api/quorate/maintenance.ts';
import { formatTime, parseTime } from '../../machinery/values/index.ts';
import { setCondition } from '../disruption/index.ts';
import { tellBlocker } from '../maintenance/index.ts';
import type { DrainMark } from './read-mark.ts';

/** How long one is kept after its mark went. */
const KEPT_MS = 3_600_000;

/** The mark is there and is one of a drain. */
export function isDrainMark(mark: DrainMark | undefined): mark is DrainMark {
  return mark !== undefined && mark.means !== 'Candidate' && mark.means !== 'Failure';
}

export interface ObservedFacts {
  readonly maintenance: Maintenance;
  readonly mark: DrainMark | undefined;
  readonly nodeUid: string;
  /** Pods on the node that have to move. */
  readonly left: number;
  readonly blockers: readonly MaintenanceBlocker[];
  readonly now: number;
}

export type ObservedStep = { readonly kind: 'Delete' } | { readonly kind: 'Write'; readonly status: MaintenanceStatus };

const GONE = 'its mark is gone';

/**
 * What becomes of an observed drain. Rules, first match wins:
 *  1. it ended, its mark went, and one is there again: it is deleted, and another one begins
 *  2. it ended and its mark went an hour ago: it is deleted
 *  3. its mark is gone, or nothing is left to move: Done; an announced one is Planned, others are Running
 */
export function nextObserved(facts: ObservedFacts): ObservedStep {
  const { blockers, left, maintenance, mark, nodeUid, now } = facts;
  const { metadata, spec, status = {} } = maintenance;
  const marked = isDrainMark(mark);
  const ended = isFinished(maintenance);
  const wentBefore = status.conditions?.find(({ type }) => type === 'Progressing')?.message === GONE;
  if (ended && wentBefore) {
    const due = (parseTime(status.finishedAt) ?? now) + KEPT_MS;
    return marked || due <= now ? { kind: 'Delete' } : { kind: 'Write', status };
  }
  const done = ended || !marked || (left === 0 && mark.means !== 'Planned');
  const name = spec?.nodes.names?.[0] ?? '';
  const phase = done ? 'Done' : mark.means === 'Planned' ? 'Planned' : 'Running';
  const state = left === 0 ? 'Drained' : 'Draining';
  const [before] = status.nodes ?? [];
  const since = before?.state === state ? before.since : formatTime(now);
  const [first] = blockers;
  const message = done ? (marked ? 'nothing is left to move' : GONE) : `${spec?.source?.driver ?? ''} is at work`;
  const told: Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[] = [
    { type: 'Progressing', status: done ? 'False' : 'True', reason: done ? 'Finished' : 'Draining', message },
    first === undefined || done
      ? { type: 'Blocked', status: 'False', reason: 'NothingInTheWay', message: '' }
      : { type: 'Blocked', status: 'True', reason: first.reason, message: first.message },
    {
      type: 'Complete',
      status: done && left === 0 ? 'True' : 'False',
      reason: done ? (left === 0 ? 'Drained' : 'Incomplete') : 'InProgress',
      message: '',
    },
  ];
  let conditions = status.conditions ?? [];
  for (const one of told)
    conditions = setCondition(conditions, { ...one, observedGeneration: metadata.generation }, now);
  return {
    kind: 'Write',
    status: {
      phase,
      observedGeneration: metadata.generation,
      startedAt: status.startedAt ?? formatTime(now),
      // Ended by being empty: its hour begins when the mark goes.
      ...(done && { finishedAt: ended && marked ? status.finishedAt : formatTime(now) }),
      nodes: [{ name, uid: nodeUid, state, since }],
      nodesTotal: 1,
      nodesDrained: left === 0 ? 1 : 0,
      groups: { downNow: 0, downTotal: 0, planned: 0 },
      ...(blockers.length > 0 && !done && { blockers: [...blockers] }),
      ...(status.waitsFor !== undefined && !done && { waitsFor: status.waitsFor }),
      summary: {
        nodes: `${left === 0 ? 1 : 0}/1`,
        ...(first !== undefined && !done && { waitsFor: tellBlocker(first) }),
      },
      conditions,
    },
  };
}

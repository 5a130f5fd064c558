import type { KubeObject } from '../../../api/resource.ts';
import type { DisruptionIndex } from '../../../decisions/disruption/index.ts';
import type { AnswerQueue, DisruptionRecorder, HistoryBounds } from '../../../decisions/history/index.ts';
import type { Client, Clock, EventRecorder, Logger } from '../../../machinery/runtime/index.ts';
import type { HistoryBook } from './book.ts';
import type { HistoryMeters } from './meters.ts';
import type { SeenThings } from './seen.ts';
import type { PodTracker } from './tracker.ts';

/** What the record wants to know of its host. */
export interface HistoryOptions {
  /**
   * Pods and what says which belong together, kept by a controller that is started before this one; it must know the groups
   * of LeaderWorkerSets everywhere. Default: a copy of its own.
   */
  readonly index?: DisruptionIndex | undefined;
  /** Who was answered what, in this process. Absent: nobody tells. */
  readonly answers?: AnswerQueue | undefined;
  /** Where is kept what belongs to no namespace. */
  readonly namespace?: string | undefined;
  readonly bounds?: HistoryBounds | undefined;
  /** How often what is new is written. */
  readonly everyMs?: number | undefined;
  /** Names this replica where there are several. */
  readonly replica?: string | undefined;
  /** Whether a user is Quorate itself. */
  readonly isOurs?: ((who: string) => boolean) | undefined;
}

export const HOME_NAMESPACE = 'kube-system';
export const DEFAULT_BOUNDS: HistoryBounds = { days: 30, bytes: 256 * 1024 * 1024 };

/** What replicas handed over is of no use after this time. */
export const HANDED_MS = 10 * 60_000;

export interface RecordDeps extends SeenThings {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly events: EventRecorder;
  readonly answers: AnswerQueue;
  readonly recorder: DisruptionRecorder;
  readonly tracker: PodTracker;
  readonly book: HistoryBook;
  readonly meters: HistoryMeters;
  readonly home: string;
  /** Whether replicas hand over what they answered. */
  readonly hasReplicas: boolean;
  readonly state: HistoryState;
}

/** What changes while the record is kept. */
export interface HistoryState {
  /** It was looked back on what happened before. */
  isOpen: boolean;
  /** The version of the pods that is written as followed. */
  reached: string;
  reachedAt: number;
  /** Until then who asked is looked for. */
  namelessUntil: number;
  /** What Events are about, by entry. */
  readonly subjects: Map<string, KubeObject>;
  /** When a refusal of a group was last told. */
  readonly told: Map<string, number>;
}

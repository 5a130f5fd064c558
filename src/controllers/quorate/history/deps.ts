import type { Node, Pod } from '../../../api/generated/core-v1.ts';
import type { Maintenance } from '../../../api/quorate/maintenance.ts';
import type { KubeObject } from '../../../api/resource.ts';
import type { DisruptionIndex } from '../../../decisions/disruption/index.ts';
import type { AnswerQueue, PodDeparture, DisruptionRecorder, HistoryBounds } from '../../../decisions/history/index.ts';
import type { Client, Clock, EventRecorder, Informer, Logger } from '../../../machinery/runtime/index.ts';
import type { HistoryBook } from './book.ts';
import type { HistoryMeters } from './meters.ts';
import type { PodTracker } from './tracker.ts';

/** What the record wants to know of its host. */
export interface HistoryOptions {
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

/** Pods by the uid of what made them. */
export const BY_OWNER = 'history-owner';

export interface SeenThings {
  readonly index: DisruptionIndex;
  readonly pods: Informer<Pod>;
  readonly nodes: Informer<Node>;
  readonly maintenances: Informer<Maintenance> | undefined;
}

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
  /** Namespaces in which other pods belong together than before. */
  readonly regrouped: Set<string>;
  /** What Events are about, by entry. */
  readonly subjects: Map<string, KubeObject>;
  /** When a refusal of a group was last told. */
  readonly told: Map<string, number>;
}

/** Something that was seen and has still to be entered. */
export interface Sighting {
  readonly kind: 'Went' | 'Lost';
  readonly departure: Omit<PodDeparture, 'isUnwanted'>;
  readonly pod: Pod;
  /** Pods of the same controller that were left just then; undefined where that cannot be told. */
  readonly siblings: number | undefined;
}

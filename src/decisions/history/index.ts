/** The record of disruptions: what is entered, for which cause, how long it lasted, and what can be asked of it. */
export { type GivenAnswer, AnswerQueue, groupNamedBy, isRefusalCode, readRefusal } from './answers.ts';
export { entryBytes, hasRoomFor, type HistoryBounds, historyName, type KeptHistory, overBounds } from './bounds.ts';
export type { PodDeparture, DrainOfNode } from './cause.ts';
export type { GroupLook } from './outage.ts';
export { askHistory, HISTORY_SUBJECTS, type HistoryAnswer, type HistorySubject } from './query.ts';
export { DisruptionRecorder, type RecordNews } from './recorder.ts';
export { Recoveries } from './recoveries.ts';

/** The record of disruptions: what is entered, for which cause, how long it lasted, and what can be asked of it. */
export { type Answer, AnswerQueue, groupNamedBy, isRefusalCode, readRefusal } from './answers.ts';
export { entryBytes, hasRoomFor, type HistoryBounds, historyName, type KeptHistory, overBounds } from './bounds.ts';
export type { Departure, DrainOnNode } from './cause.ts';
export type { GroupLook } from './outage.ts';
export { askHistory, dayOf, HISTORY_SUBJECTS, type HistoryAnswer, type HistoryQuestion, type HistorySubject } from './query.ts';
export { DisruptionRecorder, type Recorded } from './recorder.ts';
export { Recoveries } from './recoveries.ts';

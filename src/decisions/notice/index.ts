/** How a group is told before it goes: who is told, who has acknowledged, and when it goes, stays or is held. */
export { decideNotice, isRunning, type NoticeVerdict } from './decide.ts';
export { noticeIdOf, readNoticePod } from './facts.ts';
export { hearPod, responderOf } from './responders.ts';
export type { ChannelWord } from './members.ts';
export { type NoticeOfGroup, noticeBefore, noticeOfGroup, noticeRefusal, noticeWarning } from './refusal.ts';
export { annotationOf, joinedStatus, noticedStatus, type NoticeStart, startNotice } from './start.ts';
export { type NoticeRequest, type NoticeResponse, readNoticeResponse, retryAfterMs } from './http.ts';

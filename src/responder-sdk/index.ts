/**
 * For services that are told before their group goes (`spec.notice` of a DisruptionPolicy, channel HTTP):
 *
 *     createResponder(async (notice) => saveCheckpoint(notice.group.name)).listen({ port: 8080 });
 */
export { createResponder, type ListeningResponder, type Responder, type ResponderOptions } from './server.ts';
export type { Notice, Prepare, Work } from './types.ts';

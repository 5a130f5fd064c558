import type { Http2SecureServer, Http2Session, ServerHttp2Stream } from 'node:http2';
import type { HttpLimits } from './limits.ts';

/** Ends HTTP/2 sessions that have had no stream for a while; a watch is one, however silent. */
export function trackSessions(server: Http2SecureServer, limits: Pick<HttpLimits, 'checkMs' | 'idleMs'>) {
  const sessions = new Map<Http2Session, { streams: number; idleSince: number }>();
  server.on('session', (session: Http2Session) => {
    sessions.set(session, { streams: 0, idleSince: performance.now() });
    session.once('close', () => sessions.delete(session));
    session.on('error', () => session.destroy());
  });
  server.on('stream', (stream: ServerHttp2Stream) => {
    const state = stream.session === undefined ? undefined : sessions.get(stream.session);
    if (state === undefined) return;
    state.streams += 1;
    stream.once('close', () => {
      state.streams -= 1;
      state.idleSince = performance.now();
    });
  });
  const timer = setInterval(() => {
    const idleBefore = performance.now() - limits.idleMs;
    for (const [session, { idleSince, streams }] of sessions) {
      if (streams === 0 && idleSince < idleBefore) session.close();
    }
  }, limits.checkMs).unref();
  return {
    close(): void {
      clearInterval(timer);
      for (const session of sessions.keys()) session.close();
    },
  };
}

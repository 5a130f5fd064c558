import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { HttpLimits } from './limits.ts';

export interface TlsMaterial {
  readonly certificate: string;
  readonly key: string;
  /** Client certificates signed by this are believed; without it none is asked for. */
  readonly authority?: string;
}

/** What one session may hold in Node besides the bodies: heads, and what waits to be sent. */
const MEGABYTES_PER_SESSION = 64;

/** HTTP/2 and HTTP/1.1 on one port, chosen in the handshake. */
export function createTlsServer({ certificate, key, authority }: TlsMaterial, limits: HttpLimits): Http2SecureServer {
  const server = createSecureServer({
    allowHTTP1: true,
    cert: certificate,
    key,
    ...(authority !== undefined && { ca: authority }),
    requestCert: authority !== undefined,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    handshakeTimeout: limits.headMs,
    maxSessionMemory: MEGABYTES_PER_SESSION,
    maxHeaderListPairs: limits.headers,
    settings: {
      maxConcurrentStreams: limits.streamsPerConnection,
      initialWindowSize: limits.streamWindowBytes,
      maxHeaderListSize: limits.headBytes,
    },
  });
  // Without this listener Node wraps every HTTP/2 stream into HTTP/1 objects as soon as `request` is listened to;
  // `request` is then only emitted for HTTP/1.1.
  server.removeAllListeners('newListener');
  server.setTimeout(0);
  Object.assign(server, { maxHeaderSize: limits.headBytes, connectionsCheckingInterval: limits.checkMs });
  return server;
}

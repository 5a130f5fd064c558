/** How much the sockets take: of heads, bodies, streams and patience. Kubernetes' own numbers where it has them. */

export interface HttpLimits {
  /** One head; long selectors travel in the URL. Times `connections`, it is what clients without credentials can hold. */
  readonly headBytes: number;
  /** More are refused and never passed over: the one left out might say on whose behalf the request is. */
  readonly headers: number;
  /** One body. */
  readonly bodyBytes: number;
  /** The bodies that are being received or handled, of all clients together… */
  readonly bodyBytesInFlight: number;
  /** …and of one user, so that nobody takes what is there for all. */
  readonly bodyBytesInFlightPerUser: number;
  /** What a request with a body counts for before any of it is there. */
  readonly bytesPerBody: number;
  readonly connections: number;
  readonly streamsPerConnection: number;
  /** What one HTTP/2 stream may send before it is read. */
  readonly streamWindowBytes: number;
  /** Until a TLS handshake or a head is there. */
  readonly headMs: number;
  /** Until a whole request is there; what the server does not read is thrown away no longer than this. */
  readonly requestMs: number;
  /** A connection without a request under way is closed after this. */
  readonly idleMs: number;
  /** How often connections are looked at. */
  readonly checkMs: number;
}

const MEGABYTE = 1024 * 1024;

export const DEFAULT_LIMITS: HttpLimits = {
  headBytes: MEGABYTE / 4,
  headers: 2000,
  bodyBytes: 3 * MEGABYTE,
  bodyBytesInFlight: 64 * MEGABYTE,
  bodyBytesInFlightPerUser: 24 * MEGABYTE,
  bytesPerBody: 8 * 1024,
  connections: 1500,
  streamsPerConnection: 250,
  streamWindowBytes: 256 * 1024,
  headMs: 32_000,
  requestMs: 60_000,
  idleMs: 90_000,
  checkMs: 5000,
};

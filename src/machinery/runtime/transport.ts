/**
 * How a client reaches an API server: one request in, one response out. Embedded, it is the server's own
 * handler; on a cluster, the network. Nothing above this line can tell them apart.
 */
export interface TransportRequest {
  readonly method: string;
  /** Path and query, already encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
  /** From afar: fail when there is no answer by then; for a watch, no head of one. Default: never. */
  readonly deadlineMs?: number | undefined;
  /** The caller wants the answer in one piece, when it is complete. */
  readonly whole?: boolean | undefined;
  /** From afar: hand on what comes so much later, together with what came meanwhile. Default: at once. */
  readonly gatherMs?: number | undefined;
  /** The caller never changes what it gets: a server in this process may answer with objects of its own. */
  readonly shared?: boolean | undefined;
}

export interface TransportResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, or chunks as they come for a watch. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array>;
  /** Instead of the body, where shared objects were asked for: what it would decode to. */
  readonly document?: unknown;
  /** Likewise for a watch: its events, in batches. */
  readonly events?: AsyncIterable<readonly SharedEvent[]>;
}

/** A change as a reader in the server's process sees it: the object is the server's own, without managedFields. */
export interface SharedEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: unknown;
}

export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

export async function readBody(body: TransportResponse['body']): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Splits a stream of JSON documents at line ends; a document may span chunks and a chunk may hold several. */
export async function* readLines(body: TransportResponse['body']): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  const chunks = body instanceof Uint8Array ? [body] : body;
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = rest.indexOf('\n', from); end >= 0; end = rest.indexOf('\n', from)) {
      if (end > from) yield rest.slice(from, end);
      from = end + 1;
    }
    rest = rest.slice(from);
  }
  if (rest.trim() !== '') yield rest;
}

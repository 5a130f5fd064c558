/** One HTTP/1.1 answer, put together from the chunks a connection delivers. */
export interface WholeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Whether the connection can take another request. */
  readonly reusable: boolean;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LINE_END = Buffer.from('\r\n');
const MAX_HEAD_BYTES = 256 * 1024;
const EMPTY = Buffer.alloc(0);

interface Head {
  readonly status: number;
  readonly headers: Record<string, string>;
}

type Framing =
  | { readonly kind: 'length'; left: number }
  /** `left`: bytes of the present chunk with its line end; undefined between chunks; `last` once the end was announced. */
  | { readonly kind: 'chunked'; left: number | undefined; last: boolean }
  | { readonly kind: 'until-close' };

/**
 * Reads one answer at a time; give it every byte as it comes. It knows what API servers and the proxies before them
 * send: interim answers, a length, chunks with or without trailers, or a body that ends with the connection. It throws
 * on anything else, and the connection is then of no more use.
 */
export class ResponseReader {
  #pending: Buffer = EMPTY;
  #head: Head | undefined;
  #framing: Framing | undefined;
  #parts: Buffer[] = [];

  /** The answer, once it is complete. Bytes beyond it nobody asked for: the connection is then not reusable. */
  read(chunk: Buffer): WholeResponse | undefined {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (this.#head === undefined) {
      const end = this.#pending.indexOf(HEAD_END);
      if (end < 0) {
        if (this.#pending.length > MAX_HEAD_BYTES) throw new Error('the headers of an answer do not end');
        return undefined;
      }
      const head = parseHead(this.#pending.toString('latin1', 0, end));
      this.#pending = this.#pending.subarray(end + HEAD_END.length);
      if (head.status < 200) continue;
      this.#head = head;
      this.#framing = framingOf(head);
    }
    return this.#readBody() ? this.#finish(this.#pending.length === 0) : undefined;
  }

  /** The answer, where the end of the connection is the end of its body. */
  close(): WholeResponse | undefined {
    return this.#framing?.kind === 'until-close' ? this.#finish(false) : undefined;
  }

  #readBody(): boolean {
    const framing = this.#framing as Framing;
    if (framing.kind === 'chunked') return this.#readChunks(framing);
    if (framing.kind === 'until-close') {
      this.#take(this.#pending.length);
      return false;
    }
    framing.left -= this.#take(Math.min(framing.left, this.#pending.length));
    return framing.left === 0;
  }

  #readChunks(framing: Extract<Framing, { kind: 'chunked' }>): boolean {
    for (;;) {
      if (framing.left !== undefined) {
        // The line end of a chunk is counted with it and dropped.
        const data = Math.min(Math.max(framing.left - LINE_END.length, 0), this.#pending.length);
        framing.left -= this.#take(data);
        if (framing.left > LINE_END.length) return false;
        const skipped = Math.min(framing.left, this.#pending.length);
        this.#pending = this.#pending.subarray(skipped);
        framing.left -= skipped;
        if (framing.left > 0) return false;
        framing.left = undefined;
      }
      const end = this.#pending.indexOf(LINE_END);
      if (end < 0) return false;
      const line = this.#pending.toString('latin1', 0, end);
      this.#pending = this.#pending.subarray(end + LINE_END.length);
      if (framing.last) {
        // Trailers end with an empty line.
        if (line === '') return true;
        continue;
      }
      const [, digits] = /^([0-9a-fA-F]{1,12})\s*(?:;.*)?$/.exec(line) ?? [];
      if (digits === undefined) throw new Error('the chunks of an answer are out of step');
      const size = Number.parseInt(digits, 16);
      if (size === 0) framing.last = true;
      else framing.left = size + LINE_END.length;
    }
  }

  /** Moves the first bytes to the body; answers how many. */
  #take(count: number): number {
    if (count === 0) return 0;
    this.#parts.push(this.#pending.subarray(0, count));
    this.#pending = this.#pending.subarray(count);
    return count;
  }

  #finish(clean: boolean): WholeResponse {
    const { status, headers } = this.#head as Head;
    const parts = this.#parts;
    const body = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    const closes = /\bclose\b/i.test(headers['connection'] ?? '');
    const reusable = clean && !closes;
    this.#head = undefined;
    this.#framing = undefined;
    this.#parts = [];
    this.#pending = EMPTY;
    return { status, headers, body, reusable };
  }
}

function parseHead(text: string): Head {
  const lines = text.split('\r\n');
  const [, version, code] = /^HTTP\/1\.([01]) (\d{3})/.exec(lines[0] ?? '') ?? [];
  if (code === undefined) throw new Error('the answer is not HTTP/1.1');
  const headers: Record<string, string> = {};
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at] as string;
    const colon = line.indexOf(':');
    if (colon <= 0) throw new Error('the headers of an answer are malformed');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  if (version === '0' && !/keep-alive/i.test(headers['connection'] ?? '')) headers['connection'] = 'close';
  return { status: Number(code), headers };
}

function framingOf({ headers, status }: Head): Framing {
  if (status === 204 || status === 304) return { kind: 'length', left: 0 };
  if (/\bchunked\s*$/i.test(headers['transfer-encoding'] ?? '')) {
    return { kind: 'chunked', left: undefined, last: false };
  }
  const length = headers['content-length'];
  if (length === undefined) return { kind: 'until-close' };
  if (!/^\d{1,15}$/.test(length)) throw new Error('the length of an answer is not a number');
  return { kind: 'length', left: Number(length) };
}

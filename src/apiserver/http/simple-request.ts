/**
 * Reads the HTTP/1.1 requests that make up nearly all traffic: whole in one piece, with nothing unusual in the head.
 * Anything else, malformed requests included, is not simple and is left to Node's own parser.
 */
import { MAX_BODY_BYTES } from './read-body.ts';

export interface SimpleRequest {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
  /** What came after it. */
  readonly rest: Buffer | undefined;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const MAX_HEAD_BYTES = 8192;
const MAX_KNOWN_HEADS = 8;
const REQUEST_LINE = /^(GET|POST|PUT|PATCH|DELETE) (\/[\x21-\x7e]*) HTTP\/1\.1$/;
/** A name is a token, a value is printable ASCII. */
const HEADER_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e]*)$/;
/** These change how the message is framed or what becomes of the connection. */
const UNUSUAL = new Set(['transfer-encoding', 'expect', 'upgrade', 'te', 'trailer', 'keep-alive', 'proxy-connection']);

/** What streams without end or switches protocols. */
const LASTING = /[?&](?:watch|follow)=|\/watch\/|\/(?:log|exec|attach|portforward|proxy)(?:[/?]|$)/;

/** A request up to its body. */
interface Head {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyLength: number;
  /** Its bytes, with the empty line. */
  readonly length: number;
}

export class SimpleRequestReader {
  /** Requests of one client mostly have the same few heads but for the first line. */
  readonly #known = new Map<string, Readonly<Record<string, string>>>();
  /** Who creates many objects sends the very same head with each, as their names are in the bodies. */
  #last: { readonly bytes: Buffer; readonly head: Head } | undefined;

  read(chunk: Buffer): SimpleRequest | undefined {
    const head = this.#head(chunk);
    if (head === undefined) return undefined;
    const { method, url, headers, bodyLength, length: bodyAt } = head;
    const end = bodyAt + bodyLength;
    if (end > chunk.length) return undefined;
    return {
      method,
      url,
      headers,
      body: bodyLength === 0 ? undefined : chunk.subarray(bodyAt, end),
      rest: end === chunk.length ? undefined : chunk.subarray(end),
    };
  }

  #head(chunk: Buffer): Head | undefined {
    const last = this.#last;
    if (last !== undefined && chunk.length >= last.bytes.length) {
      if (last.bytes.compare(chunk, 0, last.bytes.length) === 0) return last.head;
    }
    const head = this.#parse(chunk);
    // The bytes are copied: as a part of the chunk they would keep all of it in memory.
    if (head?.method === 'POST') this.#last = { bytes: Buffer.from(chunk.subarray(0, head.length)), head };
    return head;
  }

  #parse(chunk: Buffer): Head | undefined {
    const end = chunk.indexOf(HEAD_END);
    if (end < 0 || end > MAX_HEAD_BYTES) return undefined;
    const head = chunk.toString('latin1', 0, end);
    const lineEnd = head.indexOf('\r\n');
    const first = REQUEST_LINE.exec(lineEnd < 0 ? head : head.slice(0, lineEnd));
    if (first === null || lineEnd < 0) return undefined;
    const [, method = '', url = ''] = first;
    if (LASTING.test(url)) return undefined;
    const headers = this.#headers(head.slice(lineEnd + 2));
    if (headers === undefined) return undefined;
    const length = bodyLength(headers['content-length']);
    if (length === undefined) return undefined;
    // A body that GET does not expect would be read by Node and thrown away.
    if (length > 0 && method === 'GET') return undefined;
    return { method, url, headers, bodyLength: length, length: end + HEAD_END.length };
  }

  #headers(text: string): Readonly<Record<string, string>> | undefined {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const headers: Record<string, string> = {};
    for (const line of text.split('\r\n')) {
      const found = HEADER_LINE.exec(line);
      if (found === null) return undefined;
      const name = (found[1] as string).toLowerCase();
      const value = (found[2] as string).trimEnd();
      if (UNUSUAL.has(name) || name === '__proto__' || Object.hasOwn(headers, name)) return undefined;
      if (name === 'connection' && value.toLowerCase() !== 'keep-alive') return undefined;
      headers[name] = value;
    }
    if (headers['host'] === undefined) return undefined;
    if (this.#known.size === MAX_KNOWN_HEADS) this.#known.clear();
    this.#known.set(text, headers);
    return headers;
  }
}

function bodyLength(text: string | undefined): number | undefined {
  if (text === undefined) return 0;
  if (!/^\d{1,9}$/.test(text)) return undefined;
  const length = Number(text);
  return length > MAX_BODY_BYTES ? undefined : length;
}

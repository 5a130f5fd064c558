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

export class SimpleRequestReader {
  /** Requests of one client mostly have the same few heads but for the first line. */
  readonly #known = new Map<string, Readonly<Record<string, string>>>();

  read(chunk: Buffer): SimpleRequest | undefined {
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
    const bodyAt = end + HEAD_END.length;
    const length = bodyLength(headers['content-length']);
    if (length === undefined || bodyAt + length > chunk.length) return undefined;
    // A body that GET does not expect would be read by Node and thrown away.
    if (length > 0 && method === 'GET') return undefined;
    return {
      method,
      url,
      headers,
      body: length === 0 ? undefined : chunk.subarray(bodyAt, bodyAt + length),
      rest: bodyAt + length === chunk.length ? undefined : chunk.subarray(bodyAt + length),
    };
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

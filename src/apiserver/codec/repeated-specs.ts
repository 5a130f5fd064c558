import { randomUUID } from 'node:crypto';
import { deepClone, isObject, type JsonObject } from '../../machinery/values/index.ts';
import type { Decoded, DecodeRequest } from '../codec-seam.ts';
import type { ResourceRow } from '../registry/row.ts';
import { bufferOf, textOf } from './body-bytes.ts';
import { memberObject } from './json/scan.ts';
import { RepeatedHead } from './repeated-heads.ts';

/** A body whose spec is known already stands with a mark in place of it. */
export interface KnownSpec {
  readonly mark: string;
  readonly kind: string | undefined;
  readonly apiVersion: string | undefined;
  /** Of the form of its kind; to be copied. */
  readonly spec: JsonObject;
}

/** Answers undefined when the mark is not where the spec should be. */
type Decode = (text: string, known?: KnownSpec) => Decoded | undefined;

interface Known extends KnownSpec {
  readonly row: ResourceRow;
  /** The body from its spec on. It begins with a brace, so no character is cut in two there. */
  readonly tail: Buffer;
  /** The body behind its spec. */
  readonly rest: string;
  /** What the URL implies, which a body may leave to it. */
  readonly implied: string;
  /** What comes before the spec, where it is the same but for a name; undefined before the first look at one. */
  head?: RepeatedHead | 'various';
}

/** Larger bodies are rare and not worth keeping. */
const MAX_BYTES = 64 * 1024;

/**
 * Replicas that their writer names differ in their metadata, and end in the very same text. Of the third one on, the
 * spec is not parsed and checked again but copied.
 */
export class RepeatedSpecs {
  /** Nobody can guess it, so nobody can send it. */
  readonly #mark: string = randomUUID();
  #last = '';
  #known: Known | undefined;

  decoded({ bytes, mediaType, row, expected }: DecodeRequest, decode: Decode): Decoded {
    const isKept = row !== undefined && !row.custom && mediaType !== 'application/yaml' && bytes.length <= MAX_BYTES;
    const decoded = isKept ? this.#shortened(row, bufferOf(bytes), expected.apiVersion, decode) : undefined;
    if (decoded !== undefined) return decoded;

    const text = textOf(bytes);
    const result = decode(text) as Decoded;
    if (!isKept) return result;
    if (this.#seemsReplica(text)) this.#learn(row, text, expected.apiVersion, result);
    this.#last = text;
    return result;
  }

  /** Told by the bytes: most of such a body need not even become text. */
  #shortened(row: ResourceRow, bytes: Buffer, implied: string, decode: Decode): Decoded | undefined {
    const known = this.#known;
    if (known === undefined || known.row !== row || known.implied !== implied) return undefined;
    const end = bytes.length - known.tail.length;
    if (end < 0 || bytes.compare(known.tail, 0, known.tail.length, end) !== 0) return undefined;
    const replica = known.head instanceof RepeatedHead ? known.head.decoded(bytes, end) : undefined;
    if (replica !== undefined) return replica;
    try {
      const head = textOf(bytes.subarray(0, end));
      const decoded = decode(`${head}"${known.mark}"${known.rest}`, known);
      // Looked at once: what is not the same in the next one is not in the ones after it either.
      if (decoded !== undefined) known.head ??= RepeatedHead.of(head, decoded) ?? 'various';
      return decoded;
    } catch {
      // Whatever is wrong is told of the body as it came.
      return undefined;
    }
  }

  /** Whether it is the same as the one before from its spec on: to be known for sure only by a look at all of it. */
  #seemsReplica(text: string): boolean {
    const at = text.indexOf('"spec":');
    return at >= 0 && text.slice(at) === this.#last.slice(at - text.length);
  }

  #learn(row: ResourceRow, text: string, implied: string, { object, problems }: Decoded): void {
    const { apiVersion, kind, spec } = object;
    const place = memberObject(text, 'spec');
    if (place === undefined || problems.length > 0 || !isObject(spec)) return;
    this.#known = {
      row,
      mark: this.#mark,
      kind,
      apiVersion,
      spec: deepClone(spec),
      tail: Buffer.from(text.slice(place.from)),
      rest: text.slice(place.to),
      implied,
    };
  }
}

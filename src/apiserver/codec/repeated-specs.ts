import { randomUUID } from 'node:crypto';
import { deepClone, isObject, type JsonObject } from '../../machinery/values/index.ts';
import type { Decoded, DecodeRequest } from '../codec-seam.ts';
import type { ResourceRow } from '../registry/row.ts';
import { memberObject } from './json/scan.ts';

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
  /** The body from its spec on. */
  readonly tail: string;
  /** The body behind its spec. */
  readonly rest: string;
}

/** Larger bodies are rare and not worth keeping. */
const MAX_CHARS = 64 * 1024;

/**
 * Replicas that their writer names differ in their metadata, and end in the very same text. Of the third one on, the
 * spec is not parsed and checked again but copied.
 */
export class RepeatedSpecs {
  /** Nobody can guess it, so nobody can send it. */
  readonly #mark: string = randomUUID();
  #last = '';
  #known: Known | undefined;

  decoded({ mediaType, row }: DecodeRequest, text: string, decode: Decode): Decoded {
    const whole = (): Decoded => decode(text) as Decoded;
    if (row === undefined || row.custom || mediaType === 'application/yaml' || text.length > MAX_CHARS) return whole();
    const decoded = this.#shortened(row, text, decode);
    if (decoded !== undefined) return decoded;

    const result = whole();
    if (this.#seemsReplica(text)) this.#learn(row, text, result);
    this.#last = text;
    return result;
  }

  #shortened(row: ResourceRow, text: string, decode: Decode): Decoded | undefined {
    const known = this.#known;
    if (known === undefined || known.row !== row || text.slice(-known.tail.length) !== known.tail) return undefined;
    try {
      return decode(`${text.slice(0, -known.tail.length)}"${known.mark}"${known.rest}`, known);
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

  #learn(row: ResourceRow, text: string, { object, problems }: Decoded): void {
    const { apiVersion, kind, spec } = object;
    const place = memberObject(text, 'spec');
    if (place === undefined || problems.length > 0 || !isObject(spec)) return;
    this.#known = {
      row,
      mark: this.#mark,
      kind,
      apiVersion,
      spec: deepClone(spec),
      tail: text.slice(place.from),
      rest: text.slice(place.to),
    };
  }
}

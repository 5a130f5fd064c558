import { deepClone } from '../../machinery/values/index.ts';
import type { Decoded, DecodeRequest } from '../codec-seam.ts';

/**
 * A controller that scales up sends the same body thousands of times, as names are given here. A body that came just
 * before is not parsed and checked again but copied. Only the last one is kept, and only from its second coming on.
 */
export class RepeatedBodies {
  #request: DecodeRequest | undefined;
  #text = '';
  #decoded: Decoded | undefined;

  decoded(request: DecodeRequest, text: string, decode: () => Decoded): Decoded {
    // The schema of a custom resource may change under the same row.
    if (request.row === undefined || request.row.custom) return decode();
    if (!this.#isLast(request, text)) {
      this.#request = request;
      this.#text = text;
      this.#decoded = undefined;
      return decode();
    }
    this.#decoded ??= decode();
    return { object: deepClone(this.#decoded.object), problems: this.#decoded.problems };
  }

  #isLast({ row, mediaType, expected }: DecodeRequest, text: string): boolean {
    const last = this.#request;
    return (
      text === this.#text &&
      last?.row === row &&
      last?.mediaType === mediaType &&
      last?.expected.apiVersion === expected.apiVersion
    );
  }
}

import { deepClone } from '../../machinery/values/index.ts';
import type { Decoded } from '../codec-seam.ts';
import { memberObject, memberString } from './json/scan.ts';

/** Characters that mean themselves in JSON; names with others are told of by the usual way. */
const PLAIN_NAME = /^[a-z0-9.-]{1,253}$/;

/**
 * The head of a body, up to a spec that is known, in which replicas differ by nothing but their name: bytes that are the
 * same before and after a plain string decode to the same object with that string in its place.
 */
export class RepeatedHead {
  readonly #before: Buffer;
  readonly #after: Buffer;
  readonly #decoded: Decoded;

  private constructor(before: Buffer, after: Buffer, decoded: Decoded) {
    this.#before = before;
    this.#after = after;
    this.#decoded = decoded;
  }

  /** `head`: the text of a body up to its spec; `decoded`: what the body became. Undefined when it is not that simple. */
  static of(head: string, decoded: Decoded): RepeatedHead | undefined {
    // Without the spec it is whole again.
    const metadata = memberObject(`${head}{}}`, 'metadata');
    const place = metadata && memberString(head.slice(metadata.from, metadata.to), 'name');
    if (metadata === undefined || place === undefined || decoded.problems.length > 0) return undefined;
    const from = metadata.from + place.from;
    const to = metadata.from + place.to;
    const name = head.slice(from, to);
    if (!PLAIN_NAME.test(name) || decoded.object.metadata.name !== name) return undefined;
    const { object, problems } = decoded;
    return new RepeatedHead(Buffer.from(head.slice(0, from)), Buffer.from(head.slice(to)), {
      object: deepClone(object),
      problems,
    });
  }

  /** What the body becomes whose spec begins at `end`. */
  decoded(body: Buffer, end: number): Decoded | undefined {
    const [before, after] = [this.#before, this.#after];
    const from = before.length;
    const to = end - after.length;
    if (to <= from || body.compare(after, 0, after.length, to, end) !== 0) return undefined;
    if (body.compare(before, 0, from, 0, from) !== 0) return undefined;
    const name = body.toString('latin1', from, to);
    if (!PLAIN_NAME.test(name)) return undefined;
    const object = deepClone(this.#decoded.object);
    object.metadata.name = name;
    return { object, problems: this.#decoded.problems };
  }
}

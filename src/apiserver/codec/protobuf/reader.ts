import { LIMITS } from '../../exchange/limits.ts';
import { DecodeError, tooManyValues } from '../decode-error.ts';

const truncated = (): DecodeError => new DecodeError('proto: unexpected EOF');

/** What all readers of one body together may still read. */
interface Allowance {
  values: number;
}

/** Reads protobuf fields from a range of bytes; every read is bounded by its end, and all of them in number. */
export class ProtobufReader {
  readonly #bytes: Buffer;
  #at: number;
  readonly #end: number;
  readonly #allowance: Allowance;

  constructor(bytes: Buffer, start = 0, end = bytes.length, allowance: Allowance = { values: LIMITS.bodyValues }) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#allowance = allowance;
  }

  get done(): boolean {
    return this.#at >= this.#end;
  }

  /** A tag is field number and wire type: `number << 3 | wire`. */
  tag(): { number: number; wire: number } {
    this.#count();
    const tag = this.unsigned();
    if (tag > 0xffffffff || tag < 8) throw new DecodeError(`proto: illegal tag ${tag}`);
    return { number: Math.floor(tag / 8), wire: tag % 8 };
  }

  /** An unsigned varint that must fit a double exactly: tags, lengths. */
  unsigned(): number {
    let value = 0;
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new DecodeError('proto: integer overflow');
  }

  /** A signed varint of up to 64 bits; beyond 53 bits it loses precision, as JSON numbers do. */
  signed(): number {
    this.#count();
    const start = this.#at;
    let value = 0;
    for (let shift = 0; shift < 49; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    this.#at = start;
    let wide = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte();
      wide |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, wide));
    }
    throw new DecodeError('proto: integer overflow');
  }

  double(): number {
    if (this.#end - this.#at < 8) throw truncated();
    const value = this.#bytes.readDoubleLE(this.#at);
    this.#at += 8;
    return value;
  }

  text(): string {
    const [start, end] = this.#range();
    return this.#bytes.toString('utf8', start, end);
  }

  base64(): string {
    const [start, end] = this.#range();
    return this.#bytes.toString('base64', start, end);
  }

  slice(): Buffer {
    const [start, end] = this.#range();
    return this.#bytes.subarray(start, end);
  }

  message(): ProtobufReader {
    const [start, end] = this.#range();
    return new ProtobufReader(this.#bytes, start, end, this.#allowance);
  }

  skip(wire: number): void {
    switch (wire) {
      case 0:
        this.signed();
        return;
      case 1:
        this.#advance(8);
        return;
      case 2:
        this.#range();
        return;
      case 5:
        this.#advance(4);
        return;
      default:
        throw new DecodeError(`proto: illegal wireType ${wire}`);
    }
  }

  #count(): void {
    if (--this.#allowance.values < 0) throw tooManyValues();
  }

  #byte(): number {
    if (this.#at >= this.#end) throw truncated();
    return this.#bytes[this.#at++] as number;
  }

  #range(): [start: number, end: number] {
    const length = this.unsigned();
    const start = this.#at;
    this.#advance(length);
    return [start, start + length];
  }

  #advance(length: number): void {
    if (length > this.#end - this.#at) throw truncated();
    this.#at += length;
  }
}

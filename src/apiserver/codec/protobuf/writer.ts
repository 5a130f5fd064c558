/**
 * Writes protobuf back to front: a message is finished before its length is written in front of it, so nothing has to
 * be measured or moved. Fields must therefore be written in reverse order.
 */
export class Writer {
  #buffer: Buffer;
  #at: number;

  constructor(capacity = 1024) {
    this.#buffer = Buffer.allocUnsafe(capacity);
    this.#at = capacity;
  }

  finish(): Buffer {
    return Buffer.from(this.#buffer.subarray(this.#at));
  }

  /** Where the message that is about to be written ends. */
  mark(): number {
    return this.#buffer.length - this.#at;
  }

  /** Puts tag and length in front of what was written since the mark. */
  close(number: number, mark: number): void {
    this.#unsigned(this.#buffer.length - this.#at - mark);
    this.#tag(number, 2);
  }

  text(number: number, value: string): void {
    const length = Buffer.byteLength(value);
    this.#reserve(length);
    this.#buffer.write(value, this.#at, 'utf8');
    this.#unsigned(length);
    this.#tag(number, 2);
  }

  bytes(number: number, value: Uint8Array): void {
    this.raw(value);
    this.#unsigned(value.length);
    this.#tag(number, 2);
  }

  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#at);
  }

  integer(number: number, value: number | bigint): void {
    if (typeof value === 'bigint' || value < 0 || !Number.isSafeInteger(value)) this.#wide(BigInt(value));
    else this.#unsigned(value);
    this.#tag(number, 0);
  }

  double(number: number, value: number): void {
    this.#reserve(8);
    this.#buffer.writeDoubleLE(value, this.#at);
    this.#tag(number, 1);
  }

  #tag(number: number, wire: number): void {
    this.#unsigned(number * 8 + wire);
  }

  #unsigned(value: number): void {
    let length = 1;
    for (let rest = value; rest >= 128; rest = Math.floor(rest / 128)) length++;
    this.#reserve(length);
    let rest = value;
    for (let i = 0; i < length; i++) {
      this.#buffer[this.#at + i] = (rest % 128) | (i === length - 1 ? 0 : 0x80);
      rest = Math.floor(rest / 128);
    }
  }

  #wide(value: bigint): void {
    const bytes: number[] = [];
    let rest = BigInt.asUintN(64, value);
    do {
      bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
      rest >>= 7n;
    } while (rest > 0n);
    this.raw(Uint8Array.from(bytes));
  }

  #reserve(length: number): void {
    if (this.#at < length) {
      const used = this.#buffer.length - this.#at;
      const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, used + length + 64));
      this.#buffer.copy(grown, grown.length - used, this.#at);
      this.#at = grown.length - used;
      this.#buffer = grown;
    }
    this.#at -= length;
  }
}

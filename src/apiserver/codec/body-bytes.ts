import { isAscii } from 'node:buffer';

/** The same bytes as a Buffer. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Nearly all bodies are ASCII, which takes no decoding. */
export function textOf(bytes: Uint8Array): string {
  const buffer = bufferOf(bytes);
  return buffer.toString(isAscii(buffer) ? 'latin1' : 'utf8');
}

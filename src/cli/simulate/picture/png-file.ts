/** Dots as a PNG file: eight bits of red, green and blue each. */
import { crc32, deflateSync } from 'node:zlib';
import type { Canvas } from './canvas.ts';

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const BITS = 8;
const TRUE_COLOUR = 2;
const CHANNELS = 3;

export function encodePng({ height, pixels, width }: Pick<Canvas, 'height' | 'pixels' | 'width'>): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Compression, filter and interlace stay 0, the only or the plain one.
  header.set([BITS, TRUE_COLOUR], 8);
  const row = width * CHANNELS;
  // Each row begins with its filter: 0, as it is.
  const rows = Buffer.alloc((row + 1) * height);
  for (let at = 0; at < height; at += 1) rows.set(pixels.subarray(at * row, (at + 1) * row), at * (row + 1) + 1);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Length, name, content, and a checksum over name and content. */
function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

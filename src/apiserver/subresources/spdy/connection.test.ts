import { Duplex } from 'node:stream';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { serveSpdy } from './connection.ts';
import { HEADER_DICTIONARY } from './dictionary.ts';

/** Plays what a client sent, and resolves when the server has closed. */
async function play(...sent: Uint8Array[]): Promise<{ written: Buffer; opened: number }> {
  const written: Buffer[] = [];
  let opened = 0;
  const wire = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk);
      done();
    },
  });
  for (const chunk of sent) wire.push(chunk);
  wire.push(null);
  await serveSpdy(wire, (stream) => {
    opened += 1;
    stream.onData = (chunk) => stream.write(chunk);
    stream.onEnd = () => stream.end();
  });
  expect(wire.destroyed).toBe(true);
  return { written: Buffer.concat(written), opened };
}

const control = (type: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x8003);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(payload.length, 4);
  return Buffer.concat([head, payload]);
};
const open = (headers: Buffer): Buffer => {
  const block = deflateSync(headers, { dictionary: HEADER_DICTIONARY });
  return control(1, Buffer.concat([Buffer.from([0, 0, 0, 1, 0, 0, 0, 0, 0, 0]), block]));
};

it('answers pings, replies to streams and gives back their data, however they are cut into pieces', async () => {
  const data = Buffer.from([0, 0, 0, 1, 1, 0, 0, 2, 104, 105]);
  const sent = Buffer.concat([control(6, Buffer.from([0, 0, 0, 9])), open(Buffer.alloc(4)), data]);
  for (const size of [1, 3, sent.length]) {
    const pieces: Buffer[] = [];
    for (let at = 0; at < sent.length; at += size) pieces.push(sent.subarray(at, at + size));
    const { written, opened } = await play(...pieces);
    expect(opened).toBe(1);
    expect(written.subarray(0, 12)).toEqual(control(6, Buffer.from([0, 0, 0, 9])));
    expect(written.subarray(12, 16)).toEqual(Buffer.from([0x80, 3, 0, 2]));
    expect(written.subarray(-18, -8)).toEqual(Buffer.from([0, 0, 0, 1, 0, 0, 0, 2, 104, 105]));
    expect(written.subarray(-8)).toEqual(Buffer.from([0, 0, 0, 1, 1, 0, 0, 0]));
  }
});

it('closes on a frame that is too large, on headers that unpack to too much, and on what is no SPDY', async () => {
  expect((await play(Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff]))).opened).toBe(0);
  expect((await play(open(Buffer.alloc(10_000_000)))).opened).toBe(0);
  expect((await play(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).opened).toBe(0);
});

it('survives whatever is sent', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 60 })),
      fc.integer({ min: 0, max: 10 }),
      async (chunks, type) => {
        await play(...chunks);
        await play(...chunks.map((chunk) => control(type, Buffer.from(chunk))));
      },
    ),
    { numRuns: 100 },
  );
});

/** HTTP/2 frames by the thousand that ask for nothing. Tests and the attack suite send them. */
import type { TLSSocket } from 'node:tls';

export const closed = (socket: {
  once(event: 'close', done: () => void): unknown;
  destroyed: boolean;
}): Promise<void> =>
  new Promise((resolve) => {
    if (socket.destroyed) resolve();
    else socket.once('close', resolve);
  });

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
export const SETTINGS = 4;
export const frame = (type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
/** GET / over https at host x: indexed fields of the static table and one literal. */
export const GET_HEAD = Buffer.from([0x82, 0x87, 0x84, 0x41, 0x01, 0x78]);
const POST_HEAD = Buffer.from([0x83, 0x87, 0x84, 0x41, 0x01, 0x78]);
export const streamOf = (at: number): number => at * 2 + 1;
export const times = (count: number, make: (at: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, at) => make(at)));

export const floods: Readonly<Record<string, Buffer>> = {
  'streams that are reset at once': times(3000, (at) =>
    Buffer.concat([frame(1, 5, streamOf(at), GET_HEAD), frame(3, 0, streamOf(at), Buffer.alloc(4))]),
  ),
  pings: times(20_000, () => frame(6, 0, 0, Buffer.alloc(8))),
  settings: times(20_000, () => frame(SETTINGS, 0, 0, Buffer.from([0, 4, 0, 0, 0xff, 0xff]))),
  'empty data frames': Buffer.concat([frame(1, 4, 1, POST_HEAD), times(100_000, () => frame(0, 0, 1))]),
  'a head that never ends': Buffer.concat([
    frame(1, 0, 1, GET_HEAD),
    times(20_000, () => frame(9, 0, 1, Buffer.alloc(0))),
  ]),
  'a head of many megabytes': Buffer.concat([
    frame(1, 0, 1, GET_HEAD),
    times(600, () =>
      frame(9, 0, 1, Buffer.concat([Buffer.from([0x00, 0x01, 0x61, 0x7f, 0x81, 0x7e]), Buffer.alloc(16_256, 0x61)])),
    ),
  ]),
  priorities: times(20_000, () => frame(2, 0, 1, Buffer.alloc(5))),
  'window updates': times(20_000, () => frame(8, 0, 0, Buffer.from([0, 0, 0, 1]))),
  'frames of no known type': times(20_000, () => frame(99, 0, 0, Buffer.alloc(4))),
  garbage: Buffer.alloc(100_000, 0xa5),
};

/** Resolves when all is written or the server has had enough. */
export async function flood(socket: TLSSocket, bytes: Buffer): Promise<void> {
  socket.resume();
  const written = new Promise<void>((resolve) =>
    socket.write(Buffer.concat([PREFACE, frame(SETTINGS, 0, 0), bytes]), () => resolve()),
  );
  await Promise.race([written, closed(socket)]);
}

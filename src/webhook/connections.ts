import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/** API servers open one for each review under way; a thousand at once is beyond anything they do. */
const MAX_CONNECTIONS = 1024;

export interface Connections {
  /** Marks one as that of somebody who is believed. */
  prove(this: void, socket: Socket): void;
  /** Resolves when none is open. */
  whenNone(): Promise<void>;
}

/**
 * Bounds the connections. When there are too many, the oldest goes that nobody has proven itself on: whoever opens them
 * without being believed pushes out none but his own.
 */
export function boundConnections(server: Server, most = MAX_CONNECTIONS): Connections {
  /** Plain sockets below the TLS ones, in the order they came, by who is at the other end. */
  const unproven = new Map<string, Socket>();
  const waiting: (() => void)[] = [];
  let open = 0;
  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket);
    open += 1;
    unproven.set(key, socket);
    socket.once('close', () => {
      open -= 1;
      if (unproven.get(key) === socket) unproven.delete(key);
      if (open === 0) for (const resolve of waiting.splice(0)) resolve();
    });
    if (open <= most) return;
    const [oldest = socket] = unproven.values();
    oldest.destroy();
  });
  return {
    prove: (socket) => unproven.delete(keyOf(socket)),
    whenNone: () => (open === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}

const keyOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`;

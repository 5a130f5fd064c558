import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/** API servers open one for each review under way; a thousand at once is beyond anything they do. */
const MAX_CONNECTIONS = 1024;

/**
 * Bounds the connections. When there are too many, the oldest goes that nobody has proven itself on: whoever opens them
 * without being believed pushes out none but his own. Returns how a connection is marked as proven.
 */
export function boundConnections(server: Server, most = MAX_CONNECTIONS): (socket: Socket) => void {
  /** Plain sockets below the TLS ones, in the order they came, by who is at the other end. */
  const unproven = new Map<string, Socket>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket);
    open += 1;
    unproven.set(key, socket);
    socket.once('close', () => {
      open -= 1;
      if (unproven.get(key) === socket) unproven.delete(key);
    });
    if (open <= most) return;
    const [oldest = socket] = unproven.values();
    oldest.destroy();
  });
  return (socket) => unproven.delete(keyOf(socket));
}

const keyOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`;

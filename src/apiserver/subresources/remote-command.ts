/**
 * The protocol of `exec` and `attach` over a WebSocket: each message begins with the number of its stream. Version 5 lets a
 * client say that a stream has ended; version 4 is the same without.
 */
import type { IncomingMessage } from 'node:http';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import type { RawConnection } from '../exchange/exchange.ts';
import type { EchoOutcome } from './echo-shell.ts';

const VERSIONS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;
const CLOSE = 255;
const NORMAL = 1000;
/** The exit code of what is killed with its pod. */
const KILLED = 137;
/** One message, and what may wait to be sent before no more is read. */
const MAX_BYTES = 1024 * 1024;

export interface RemoteCommand {
  /** Undefined: what comes in goes out again, until the client has no more. */
  readonly outcome: EchoOutcome | undefined;
  readonly stdin: boolean;
  /** Written first. */
  readonly greeting?: string;
  readonly keep: Keep;
}

/** Hears how to end a connection, and returns how to say that it has ended. */
export type Keep = (cut: () => void) => () => void;

const server = new WebSocketServer({
  noServer: true,
  maxPayload: MAX_BYTES,
  perMessageDeflate: false,
  handleProtocols: (offered) => VERSIONS.find((version) => offered.has(version)) ?? false,
});

/** Whether a client offers a version that is spoken here. */
export function speaksRemoteCommand(headers: Readonly<Record<string, string | undefined>>): boolean {
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((one) => one.trim());
  return isWebSocket(headers) && offered.some((one) => VERSIONS.includes(one));
}

export function isWebSocket(headers: Readonly<Record<string, string | undefined>>): boolean {
  return headers['upgrade']?.toLowerCase() === 'websocket';
}

export function serveRemoteCommand(connection: RawConnection, command: RemoteCommand): void {
  const { head, headers, method, socket, url } = connection;
  server.handleUpgrade({ headers, method, url } as IncomingMessage, socket, head, (client) =>
    converse(client, command),
  );
}

function converse(client: WebSocket, { greeting, keep, outcome, stdin }: RemoteCommand): void {
  const send = (stream: number, content: Uint8Array | string): void => {
    client.send(Buffer.concat([Buffer.of(stream), Buffer.from(content)]));
  };
  const end = (status: object): void => {
    send(ERROR, JSON.stringify(status));
    client.close(NORMAL);
  };
  client.on(
    'close',
    keep(() => end(statusOf(KILLED))),
  );
  client.on('error', () => client.terminate());
  if (greeting !== undefined) send(STDOUT, greeting);
  if (outcome !== undefined) {
    if (outcome.stdout) send(STDOUT, outcome.stdout);
    if (outcome.stderr) send(STDERR, outcome.stderr);
    end(statusOf(outcome.exitCode));
    return;
  }
  if (!stdin && greeting === undefined) return end(statusOf(0));
  client.on('message', (data: RawData) => {
    const bytes = data as Buffer;
    if (bytes[0] === STDIN && bytes.length > 1) send(STDOUT, bytes.subarray(1));
    else if (bytes[0] === CLOSE && bytes[1] === STDIN) end(statusOf(0));
    if (client.bufferedAmount > MAX_BYTES) waitForReader(client);
  });
}

/** Reads no more until what waits has gone out. */
function waitForReader(client: WebSocket): void {
  client.pause();
  client.send(Buffer.of(STDOUT), () => client.resume());
}

/** How a command ended, as clients read it. */
function statusOf(exitCode: number): object {
  if (exitCode === 0) return { metadata: {}, status: 'Success' };
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  };
}

import { Agent as HttpAgent, type AgentOptions } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { connectThrough } from './proxy.ts';

export interface ProxyAgentOptions {
  readonly host: string;
  readonly port: number;
  /** Absent: no TLS with the target. */
  readonly tls: ConnectionOptions | undefined;
  readonly timeoutMs: number;
  readonly pool: AgentOptions;
}

type Created = (error: Error | null, socket?: Duplex) => void;

/** Keeps connections that go through a proxy. Node waits for the callback where nothing is returned. */
export function createProxyAgent(proxy: URL, options: ProxyAgentOptions): HttpAgent {
  const agent = options.tls === undefined ? new HttpAgent(options.pool) : new HttpsAgent(options.pool);
  const createConnection = (_target: object, created: Created): undefined => {
    connectThrough(proxy, options).then(
      (socket) => created(null, options.tls === undefined ? socket : connectTls({ ...options.tls, socket })),
      (error: Error) => created(error),
    );
    return undefined;
  };
  return Object.assign(agent, { createConnection });
}

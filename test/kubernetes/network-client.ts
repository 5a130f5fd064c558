import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { type Client, createClient, type Transport } from '../../src/machinery/runtime/index.ts';
import type { RealControlPlane } from './control-plane.ts';

/** A client of the real API server, for suites that run our controllers against it. */
export function createNetworkClient(plane: RealControlPlane, userAgent: string): Client {
  return createClient({ transport: createNetworkTransport(plane), userAgent });
}

export function createNetworkTransport({ server, token, caFile }: RealControlPlane): Transport {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(caFile) });
  return ({ method, path, headers, body, deadlineMs, signal }) =>
    new Promise((resolve, reject) => {
      // Node sends the body of a DELETE without saying how long it is, unless told.
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const sent = { ...headers, ...length, authorization: `Bearer ${token}` };
      const options = { method, agent, headers: sent, ...(signal && { signal }) };
      const call = request(server + path, options, (response) => {
        resolve({ status: response.statusCode ?? 0, headers: {}, body: response });
      });
      call.on('error', reject);
      // A request that is lost must not keep whoever waits for it for ever.
      if (deadlineMs !== undefined) {
        const late = (): void => void call.destroy(new Error(`no answer to ${method} ${path} in ${deadlineMs} ms`));
        const timer = setTimeout(late, deadlineMs);
        call.on('close', () => clearTimeout(timer));
      }
      call.end(body);
    });
}

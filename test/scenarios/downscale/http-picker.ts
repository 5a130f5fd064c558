/** A pod picker on loopback whose behaviour a test decides, and which remembers what it was asked. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { DownscalePodPicker } from '../../../src/api/generated/apps-v1.ts';

export interface Asked {
  readonly count: number;
  readonly candidates: readonly string[];
  readonly headers: IncomingHttpHeaders;
}

export type Reply = (response: ServerResponse, asked: Asked, attempt: number) => void;

export class HttpPicker {
  readonly asked: Asked[] = [];
  readonly #server: Server;

  constructor(reply: Reply) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as {
          number_of_pods_requested: number;
          candidate_pods: string[];
        };
        const asked = {
          count: body.number_of_pods_requested,
          candidates: body.candidate_pods,
          headers: request.headers,
        };
        this.asked.push(asked);
        reply(response, asked, this.asked.length);
      });
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The field that points here. */
  field(over: Partial<DownscalePodPicker> = {}): DownscalePodPicker {
    return { timeoutSeconds: 1, maxRetries: 0, ...over, http: { host: '127.0.0.1', port: this.port, ...over.http } };
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

export const answering =
  (choose: (asked: Asked) => object): Reply =>
  (response, asked) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(choose(asked)));
  };

/** A receiver of notices on loopback whose behaviour a test decides, and which remembers how it was called. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { NoticeHttp } from '../../../src/api/quorate/disruption-policy.ts';
import type { NoticeRequest } from '../../../src/decisions/notice/index.ts';

export interface Called {
  readonly headers: IncomingHttpHeaders;
  readonly body: NoticeRequest;
}

export class Receiver {
  readonly calls: Called[] = [];
  readonly #server: Server;

  constructor(reply: (response: ServerResponse, called: Called, attempt: number) => void) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as NoticeRequest;
        const called = { headers: request.headers, body };
        this.calls.push(called);
        reply(response, called, this.calls.length);
      });
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  /** The channel that leads here. */
  http(over: Partial<NoticeHttp> = {}): NoticeHttp {
    const { port } = this.#server.address() as AddressInfo;
    return { scheme: 'HTTP', host: '127.0.0.1', port, ...over };
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

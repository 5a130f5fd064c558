/** What workers say about themselves: `PUT /pods/<name>` with `{"load": 3, "region": "eu"}`. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Report {
  readonly load?: number;
  readonly region?: string;
}

/** Serves reports and, for every other request, the picker. */
export function serve(picker: RequestListener, reports: Map<string, Report>): void {
  const server = createServer((request, response) => {
    const pod = /^\/pods\/([^/?]+)$/.exec(request.url ?? '')?.[1];
    if (request.method !== 'PUT' || pod === undefined) {
      picker(request, response);
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      try {
        reports.set(decodeURIComponent(pod), JSON.parse(Buffer.concat(chunks).toString()) as Report);
        response.writeHead(204).end();
      } catch {
        response.writeHead(400).end();
      }
    });
  });
  server.listen(Number(process.env['PORT'] ?? 8080), () => {
    console.log(`listening on port ${(server.address() as AddressInfo).port}`);
  });
}

/** The secret callers must know, if there is one. */
export function auth(): { auth?: { value: string } } {
  const value = process.env['PICKER_TOKEN'];
  return value === undefined ? {} : { auth: { value } };
}

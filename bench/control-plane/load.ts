import { Agent, request } from 'node:https';
import type { Target } from './target.ts';

export interface Answer {
  readonly status: number;
  readonly bytes: number;
}

export type Send = (method: string, path: string, body?: string, contentType?: string) => Promise<Answer>;

/** A client that only counts: the load must not cost more than what it measures. */
export function createLoad({ server, tls, headers }: Target, connections: number): { send: Send; close: () => void } {
  const agent = new Agent({ ...tls, keepAlive: true, maxSockets: connections, scheduling: 'fifo' });
  const send: Send = (method, path, body, contentType = 'application/json') =>
    new Promise((resolve, reject) => {
      const sent = {
        ...headers,
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': contentType, 'content-length': String(Buffer.byteLength(body)) }),
      };
      const call = request(server + path, { method, agent, headers: sent }, (response) => {
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes }));
        response.on('error', reject);
      });
      call.on('error', reject);
      call.end(body);
    });
  return { send, close: () => agent.destroy() };
}

/** Runs `work` with numbers 0, 1, 2, ... by so many at once, so many times; answers with the rate. */
export async function measureRate(
  { count, atOnce }: { count: number; atOnce: number },
  work: (number: number) => Promise<unknown>,
): Promise<number> {
  let next = 0;
  const started = performance.now();
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return count / ((performance.now() - started) / 1000);
}

export async function expectStatus(answer: Promise<Answer>, wanted: number): Promise<Answer> {
  const got = await answer;
  if (got.status !== wanted) throw new Error(`The server answered ${got.status} instead of ${wanted}`);
  return got;
}

const env = Array.from({ length: 12 }, (_, at) => ({ name: `VARIABLE_${at}`, value: `the value of variable ${at}` }));

const usual = {
  env,
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
  ports: [{ name: 'http', containerPort: 8080 }],
};

/** A pod that no scheduler takes: about 4 KB as stored, or 2 KB when it is small. */
export function podBody(name: string, { small = false } = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'web', tier: 'front' } },
    spec: {
      schedulerName: 'nobody',
      containers: [{ name: 'main', image: 'registry.example.com/team/web:1.2.3', ...(small ? {} : usual) }],
    },
  });
}

import { type Answer, RawConnection } from './raw-connection.ts';
import type { ConnectionOptions } from 'node:tls';

export type { Answer };

export type Send = (method: string, path: string, body?: string, contentType?: string) => Promise<Answer>;

/** Where to send it, and who as. */
export interface LoadTarget {
  readonly server: string;
  readonly tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>;
  readonly headers: Readonly<Record<string, string>>;
}

/** A client that only counts, on so many connections: the load must not cost more than what it measures. */
export function createLoad(
  { server, tls, headers }: LoadTarget,
  connections: number,
): { send: Send; close: () => void } {
  const { hostname, port } = new URL(server);
  const fixed = Object.entries({ host: `${hostname}:${port}`, accept: 'application/json', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const idle: RawConnection[] = [];
  const all = new Set<Promise<RawConnection>>();
  const waiting: ((connection: RawConnection) => void)[] = [];
  const take = (): RawConnection | Promise<RawConnection> => {
    const free = idle.pop();
    if (free !== undefined) return free;
    if (all.size >= connections) return new Promise((resolve) => waiting.push(resolve));
    const opening = RawConnection.open({ ...tls, host: hostname, port: Number(port) });
    all.add(opening);
    return opening;
  };
  const send: Send = async (method, path, body, contentType = 'application/json') => {
    const content =
      body === undefined
        ? '\r\n'
        : `content-type: ${contentType}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    const connection = await take();
    const answer = await connection.send(`${method} ${path} HTTP/1.1\r\n${fixed}${content}`);
    const next = waiting.shift();
    if (next === undefined) idle.push(connection);
    else next(connection);
    return answer;
  };
  return { send, close: () => all.forEach((opening) => void opening.then((connection) => connection.close())) };
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

/** Different ones have no part in common: names, images, variables, room asked for. */
const usualOf = (template: number) => ({
  env: Array.from({ length: 12 }, (_, at) => ({
    name: `VARIABLE_${template}_${at}`,
    value: `the value of variable ${at} of template ${template}`,
  })),
  resources: {
    requests: { cpu: `${100 + template}m`, memory: `${128 + template}Mi` },
    limits: { memory: `${256 + template}Mi` },
  },
  ports: [{ name: 'http', containerPort: 8080 + template }],
});

/**
 * A pod that no scheduler takes: about 4 KB as stored, or 2 KB when it is small. Pods of one template have their spec
 * and labels in common; `unlike`: no other has its spec.
 */
export function podBody(name: string, { small = false, unlike = false, template = 0 } = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: `web-${template}`, tier: 'front' } },
    spec: {
      schedulerName: 'nobody',
      ...(unlike && { hostname: name }),
      containers: [
        {
          name: `main-${template}`,
          image: `registry.example.com/team/web:1.2.${template}`,
          ...(small ? {} : usualOf(template)),
        },
      ],
    },
  });
}

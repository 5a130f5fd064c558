/** The server under attack, and requests to it with little to write. */
import { type AttackedServer, type Identity, send, startAttackedServer } from './harness/index.ts';

export interface Question {
  readonly as: Identity;
  readonly path: string;
  /** GET unless given, POST with a body. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** Anything but text is sent as JSON. */
  readonly body?: unknown;
  readonly http?: 1 | 2;
}

export interface Reply {
  readonly status: number;
  readonly body: string;
  /** The body as JSON, or an empty object. */
  readonly object: Record<string, unknown>;
}

export interface Target {
  readonly server: AttackedServer;
  ask(question: Question): Promise<Reply>;
  /** As the administrator; throws unless it is answered with 2xx. */
  make(path: string, object: unknown): Promise<Record<string, unknown>>;
  /** A token of a service account, which is made with its namespace where it is not there. */
  tokenOf(namespace: string, name: string, spec?: object): Promise<string>;
}

export async function startTarget(...flags: string[]): Promise<Target> {
  // `npm run test:attacks` attacks what was built; `npm test` has nothing built.
  const server = await startAttackedServer({ flags, fromSource: process.env['QUORATE_ATTACKED'] !== 'built' });
  const ask = async ({ body, method, ...rest }: Question): Promise<Reply> => {
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    const { status, text: answer } = await send(server.access, {
      ...rest,
      method: method ?? (text === undefined ? 'GET' : 'POST'),
      ...(text !== undefined && { body: text }),
    });
    return { status, body: answer, object: parseObject(answer) };
  };
  const make = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const { status, object, body: answer } = await ask({ as: 'administrator', path, body });
    if (status >= 300) throw new Error(`POST ${path}: ${status} ${answer}`);
    return object;
  };
  return {
    server,
    ask,
    make,
    async tokenOf(namespace, name, spec = {}) {
      await ask({ as: 'administrator', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } });
      const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
      await ask({ as: 'administrator', path: accounts, body: { metadata: { name } } });
      const made = await make(`${accounts}/${name}/token`, { spec });
      return (made['status'] as { token: string }).token;
    },
  };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    // Not every answer is JSON.
    return {};
  }
}

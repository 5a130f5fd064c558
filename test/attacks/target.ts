/** The server under attack: `quorate up` in a process of its own, and requests to it as anybody. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type ClientHttp2Session } from 'node:http2';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.ts');

/** Who asks: the administrator by certificate, a bearer of a token, or nobody. */
export type Identity = 'admin' | 'nobody' | { readonly token: string };

export interface Question {
  readonly as: Identity;
  readonly path: string;
  /** GET unless given, POST with a body. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** An object is sent as JSON. */
  readonly body?: unknown;
  readonly http2?: boolean;
}

export interface Reply {
  readonly status: number;
  readonly body: string;
  /** The body as JSON, or an empty object. */
  readonly object: Record<string, unknown>;
}

export interface Target {
  readonly child: ChildProcess;
  readonly kubeconfig: string;
  readonly authority: Buffer;
  readonly port: number;
  ask(question: Question): Promise<Reply>;
  /** As the administrator; throws unless it is answered with 2xx. */
  make(path: string, object: unknown): Promise<Record<string, unknown>>;
  /** A token of a service account, which is made with its namespace where it is not there. */
  tokenOf(namespace: string, name: string, request?: object): Promise<string>;
  /** Resolves if the process has ended. */
  readonly ended: Promise<number | null>;
  isAlive(): boolean;
  output(): string;
  stop(): Promise<void>;
}

export async function startTarget(...flags: string[]): Promise<Target> {
  const folder = mkdtempSync(join(tmpdir(), 'quorate-attacked-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const all = ['--port', '0', '--nodes', '0', '--data-dir', join(folder, 'data'), '--kubeconfig', kubeconfig];
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, 'up', ...all, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', () => text.includes('export KUBECONFIG=') && resolve());
    child.once('exit', () => reject(new Error(`quorate up ended: ${text}`)));
  });
  const config = parse(readFileSync(kubeconfig, 'utf8')) as {
    clusters: { cluster: Record<string, string> }[];
    users: { user: Record<string, string> }[];
  };
  const { server = '', 'certificate-authority-data': ca = '' } = config.clusters[0]?.cluster ?? {};
  const user = config.users[0]?.user ?? {};
  const authority = Buffer.from(ca, 'base64');
  const certificate = {
    cert: Buffer.from(user['client-certificate-data'] ?? '', 'base64'),
    key: Buffer.from(user['client-key-data'] ?? '', 'base64'),
  };
  const credentials = (as: Identity) => ({ ca: authority, ...(as === 'admin' && certificate) });
  const ask = (question: Question): Promise<Reply> =>
    question.http2
      ? askHttp2(connect(server, credentials(question.as)), question)
      : askHttp1(server, credentials(question.as), question);
  const make = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const { status, object, body: answer } = await ask({ as: 'admin', path, body });
    if (status >= 300) throw new Error(`POST ${path}: ${status} ${answer}`);
    return object;
  };
  return {
    child,
    kubeconfig,
    authority,
    port: Number(new URL(server).port),
    ask,
    make,
    ended,
    async tokenOf(namespace, name, spec = {}) {
      await ask({ as: 'admin', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } });
      const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
      await ask({ as: 'admin', path: accounts, body: { metadata: { name } } });
      const made = await make(`${accounts}/${name}/token`, { spec });
      return (made['status'] as { token: string }).token;
    },
    isAlive: () => child.exitCode === null && child.signalCode === null,
    output: () => text,
    async stop() {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function headOf({ as, body, headers = {} }: Question): Record<string, string | string[]> {
  return {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(typeof as === 'object' && { authorization: `Bearer ${as.token}` }),
    ...headers,
  };
}

const methodOf = ({ body, method }: Question): string => method ?? (body === undefined ? 'GET' : 'POST');

function bytesOf({ body }: Question): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function replyOf(status: number, chunks: readonly Buffer[]): Reply {
  const body = Buffer.concat(chunks).toString('utf8');
  let object: Record<string, unknown> = {};
  try {
    object = JSON.parse(body) as Record<string, unknown>;
  } catch {
    // Not every answer is JSON.
  }
  return { status, body, object };
}

function askHttp1(server: string, credentials: object, question: Question): Promise<Reply> {
  const { hostname, port } = new URL(server);
  return new Promise((resolve, reject) => {
    const call = request(
      {
        hostname,
        port,
        path: question.path,
        method: methodOf(question),
        headers: headOf(question),
        agent: false,
        ...credentials,
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('end', () => resolve(replyOf(response.statusCode ?? 0, chunks)));
        response.once('error', reject);
      },
    );
    call.once('error', reject);
    call.end(bytesOf(question));
  });
}

function askHttp2(session: ClientHttp2Session, question: Question): Promise<Reply> {
  return new Promise<Reply>((resolve, reject) => {
    session.once('error', reject);
    const stream = session.request({
      ':method': methodOf(question),
      ':path': question.path,
      ...headOf(question),
    });
    let status = 0;
    const chunks: Buffer[] = [];
    stream.once('response', (headers) => (status = headers[':status'] ?? 0));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('end', () => resolve(replyOf(status, chunks)));
    stream.once('error', reject);
    stream.end(bytesOf(question));
  }).finally(() => session.close());
}

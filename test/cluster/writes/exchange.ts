import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { isObject, type JsonObject } from '../../../src/machinery/values/index.ts';
import type { ControlPlane } from '../../../src/testkit/index.ts';
import type { RealControlPlane } from '../../kubernetes/control-plane.ts';

export interface Step {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly type?: string;
  readonly body?: unknown;
  /** Our message says the same in other words: only code and reason must agree. */
  readonly ownWords?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly warnings: readonly string[];
  readonly body: unknown;
}

export type Send = (step: Step) => Promise<Answer>;

const AGENT = 'writer/1.0';

function headersOf({ type }: Step): Record<string, string> {
  return { 'user-agent': AGENT, accept: 'application/json', 'content-type': type ?? 'application/json' };
}

const textOf = ({ body }: Step): string | undefined =>
  body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function sendToReal({ server, token, caFile }: RealControlPlane): Send {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(caFile) });
  return (step) =>
    new Promise((resolve, reject) => {
      const headers = { ...headersOf(step), authorization: `Bearer ${token}` };
      const call = request(server + step.path, { method: step.method, agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            warnings: warningsOf(response.headers.warning),
            body: parse(Buffer.concat(chunks).toString('utf8')),
          }),
        );
      });
      call.on('error', reject);
      call.end(textOf(step));
    });
}

export function sendToOurs({ server }: ControlPlane): Send {
  return async (step) => {
    const text = textOf(step);
    const response = await server.handle({
      method: step.method,
      url: step.path,
      headers: headersOf(step),
      body: text === undefined ? undefined : Buffer.from(text),
      signal: new AbortController().signal,
      peer: { user: { username: 'admin', groups: ['system:masters', 'system:authenticated'] } },
    });
    if (typeof response.body === 'function') throw new Error('a stream was not asked for');
    const chunks = response.body instanceof Uint8Array ? [response.body] : response.body;
    const { warning } = response.headers;
    return {
      status: response.status,
      warnings: warningsOf(typeof warning === 'string' ? warning : warning?.join(', ')),
      body: parse(Buffer.concat(chunks).toString('utf8')),
    };
  };
}

function warningsOf(header: string | undefined): string[] {
  return [...(header ?? '').matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replaceAll('\\"', '"'));
}

/** What two servers cannot agree on, or need not: identities, moments, empty values Go prints and we leave out. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const key of Object.keys(value).sort()) {
    if (['uid', 'resourceVersion', 'creationTimestamp', 'time', 'lastTransitionTime'].includes(key)) continue;
    // Several causes come in no order, and the message repeats them in the same.
    if (key === 'message' && manyCauses(value)) continue;
    const member = key === 'fieldsV1' ? value[key] : inAnyOrder(key, comparable(value[key]));
    const empty = member === null || (isObject(member) && Object.keys(member).length === 0 && key !== 'fieldsV1');
    if (!empty) result[key] = member;
  }
  return result;
}

const UNORDERED = new Set(['causes', 'managedFields', 'warnings']);

function inAnyOrder(key: string, value: unknown): unknown {
  if (!UNORDERED.has(key) || !Array.isArray(value)) return value;
  return value.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function manyCauses({ details }: JsonObject): boolean {
  return isObject(details) && Array.isArray(details.causes) && details.causes.length > 1;
}

/** Attacks of one request, with little to write. */
import { type Answer, type Attack, type AttackedServer, send, type Sent } from '../harness/index.ts';

/** The status and the beginning of what the server says. */
function brief({ status, text }: Answer): string {
  const message = /"message":"((?:[^"\\]|\\.){0,90})/.exec(text)?.[1];
  return message === undefined || message === '' ? String(status) : `${status} ${message}`;
}

export const ask = async (server: AttackedServer, request: Sent): Promise<string> =>
  brief(await send(server.access, request));

export const post = (path: string, body: string | Uint8Array, headers?: Record<string, string>): Sent => ({
  method: 'POST',
  path,
  body,
  ...(headers && { headers }),
});
export const patch = (path: string, body: string, headers: Record<string, string>): Sent => ({
  method: 'PATCH',
  path,
  body,
  headers,
});

/** One request. */
export const one = (name: string, request: () => Sent): Attack => ({
  name: `17.11 ${name}`,
  run: (server) => ask(server, request()),
});

/** One request to an object that is made before. */
export const onMade = (name: string, made: () => Sent, request: () => Sent): Attack => ({
  name: `17.11 ${name}`,
  async prepare(server) {
    const { status, text } = await send(server.access, made());
    if (status >= 300 && status !== 409) throw new Error(`Cannot prepare ${name}: ${status} ${text.slice(0, 300)}`);
  },
  run: (server) => ask(server, request()),
});

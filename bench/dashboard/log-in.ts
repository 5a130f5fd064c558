/** Logs in to the page of `quorate up`, as the command and the browser do. */
import { request } from 'node:https';
import type { LoadTarget } from '../control-plane/load.ts';

interface Answer {
  readonly status: number;
  readonly cookie: string;
  readonly text: string;
}

/** The path of a page that logs in once, for whoever the target's credentials say. */
export async function askForLogin(target: LoadTarget): Promise<string> {
  const { status, text } = await post(target, '/ui/logins', target.headers);
  if (status !== 201) throw new Error(`Cannot ask for a login link: ${status} ${text}`);
  return (JSON.parse(text) as { path: string }).path;
}

/** A session's cookie. */
export async function logIn(target: LoadTarget): Promise<string> {
  const [, code = ''] = (await askForLogin(target)).split('#login=');
  const { cookie, status } = await post(target, '/ui/session', { 'x-quorate-ui': '1' }, code);
  if (status !== 204) throw new Error(`Cannot log in: ${status}`);
  return cookie;
}

function post(
  { server, tls }: LoadTarget,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const call = request(`${server}${path}`, { method: 'POST', ...tls, headers: { ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      const [cookie = ''] = response.headers['set-cookie'] ?? [];
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, cookie: cookie.split(';', 1)[0] ?? '', text }),
      );
    });
    call.on('error', reject);
    call.end(body);
  });
}

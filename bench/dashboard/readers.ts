/** Open pages as the server knows them: streams that are read to the end of what there is, and on. A process of its own. */
import { request } from 'node:https';

interface Opening {
  readonly server: string;
  readonly ca: string;
  readonly cookies: readonly string[];
}

const READY = '{"ready":true}\n';

process.on('message', ({ ca, cookies, server }: Opening) => {
  void Promise.all(cookies.map((cookie) => open(server, ca, cookie))).then(
    () => process.send?.('ready'),
    (error: unknown) => {
      process.stderr.write(`a page could not be opened: ${String(error)}\n`);
      process.exit(1);
    },
  );
});

function open(server: string, ca: string, cookie: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { cookie, 'x-quorate-ui': '1' };
    const call = request(`${server}/ui/stream`, { ca, agent: false, headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`the server answered ${response.statusCode}`));
      let tail = '';
      let isReady = false;
      response.on('data', (chunk: Buffer) => {
        if (isReady) return;
        tail = (tail + chunk.toString('latin1')).slice(-(chunk.length + READY.length));
        isReady = tail.includes(READY);
        if (isReady) resolve();
      });
      response.on('close', () => reject(new Error('the server ended the stream')));
    });
    call.on('error', reject);
    call.end();
  });
}

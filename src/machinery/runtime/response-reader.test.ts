import { expect, test } from 'vitest';
import { ResponseReader, type WholeResponse } from './response-reader.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n';
const answers: readonly [name: string, text: string, body: string, reusable: boolean][] = [
  ['a length', `${ok}Content-Length: 4\r\n\r\nüx\n`, 'üx\n', true],
  ['no bytes', `${ok}content-length: 0\r\n\r\n`, '', true],
  [
    'chunks',
    `${ok}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n`,
    'abc0123456789',
    true,
  ],
  ['trailers', `${ok}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nA: b\r\n\r\n`, 'a', true],
  ['an interim answer', `HTTP/1.1 100 Continue\r\n\r\n${ok}Content-Length: 1\r\n\r\na`, 'a', true],
  ['no content', 'HTTP/1.1 204 No Content\r\n\r\n', '', true],
  ['a closing connection', `${ok}Connection: close\r\nContent-Length: 1\r\n\r\na`, 'a', false],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na', 'a', false],
];

test.each(answers)('an answer with %s is read, however it is cut', (_, text, body, reusable) => {
  const bytes = Buffer.from(text);
  for (const size of [1, 2, 3, 7, bytes.length]) {
    const reader = new ResponseReader();
    let response: WholeResponse | undefined;
    for (let at = 0; at < bytes.length; at += size) {
      expect(response).toBeUndefined();
      response = reader.read(bytes.subarray(at, at + size));
    }
    expect(response?.body.toString()).toBe(body);
    expect(response?.reusable).toBe(reusable);
  }
});

test('two answers in turn come from one reader', () => {
  const reader = new ResponseReader();
  const answer = Buffer.from(`${ok}Content-Length: 1\r\n\r\na`);
  expect(reader.read(answer)?.headers).toEqual({ 'content-type': 'application/json', 'content-length': '1' });
  expect(reader.read(answer)?.body.toString()).toBe('a');
});

test('a body without length ends with the connection, one with a length does not', () => {
  const open = new ResponseReader();
  expect(open.read(Buffer.from(`${ok}\r\nab`))).toBeUndefined();
  expect(open.close()).toMatchObject({ status: 200, reusable: false });
  const cut = new ResponseReader();
  expect(cut.read(Buffer.from(`${ok}Content-Length: 5\r\n\r\nab`))).toBeUndefined();
  expect(cut.close()).toBeUndefined();
});

test('bytes beyond the answer make the connection useless', () => {
  expect(new ResponseReader().read(Buffer.from(`${ok}Content-Length: 1\r\n\r\nabc`))?.reusable).toBe(false);
});

test.each([
  ['not HTTP', 'SSH-2.0-OpenSSH\r\n\r\n'],
  ['a length that is no number', `${ok}Content-Length: -1\r\n\r\n`],
  ['chunks out of step', `${ok}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`],
  ['a header without a name', 'HTTP/1.1 200 OK\r\n: x\r\n\r\n'],
])('%s is refused', (_, text) => {
  expect(() => new ResponseReader().read(Buffer.from(text))).toThrow(/answer/);
});

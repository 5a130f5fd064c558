import { expect, test } from 'vitest';
import { timeLimitMs } from './time-limit.ts';

const cases: [method: string, url: string, ms: number | undefined][] = [
  ['GET', '/api/v1/pods', 60_000],
  ['GET', '/api/v1/pods?watch=true&timeoutSeconds=5', 60_000],
  ['POST', '/api/v1/namespaces/default/pods', 34_000],
  ['PATCH', '/api/v1/namespaces/default/pods/a?timeout=32s', 32_000],
  ['GET', '/api/v1/pods?limit=5&timeout=1m30s', 60_000],
  ['GET', '/api/v1/pods?timeout=0', 60_000],
  ['GET', '/api/v1/pods?timeout=', 60_000],
  ['DELETE', '/api/v1/namespaces/default/pods/a?timeout=1h', 34_000],
  ['GET', '/api/v1/pods?timeout=soon', undefined],
  ['GET', '/api/v1/pods?timeout=5', undefined],
];

for (const [method, url, ms] of cases) {
  test(`timeLimitMs() gives ${method} ${url} ${ms} ms`, () => expect(timeLimitMs(method, url)).toBe(ms));
}

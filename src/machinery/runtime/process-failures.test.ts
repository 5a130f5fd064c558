import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';
import { countProcessFailure, enterRequest, leaveRequest, requestsUnderWay } from './process-failures.ts';

test('failures that nothing caught are counted by kind', async () => {
  const { registry } = new Metrics();
  expect(await registry.metrics()).toContain('quorate_process_failures_total{kind="unhandledRejection"} 0');
  countProcessFailure('unhandledRejection');
  expect(await registry.metrics()).toContain('quorate_process_failures_total{kind="unhandledRejection"} 1');
});

test('requestsUnderWay() tells the latest few, without queries', () => {
  const requests = Array.from({ length: 12 }, (_, at) => ({ method: 'GET', url: `/${at}?token=secret` }));
  requests.forEach(enterRequest);
  leaveRequest(requests[11] as (typeof requests)[number]);
  expect(requestsUnderWay()).toEqual(Array.from({ length: 10 }, (_, at) => `GET /${10 - at}`));
  requests.forEach(leaveRequest);
  expect(requestsUnderWay()).toEqual([]);
});

import { expect, test } from 'vitest';
import { readNoticeResponse, retryAfterMs } from './http.ts';

test.each([
  ['204', 204, '', { state: 'Acknowledged', all: true }],
  ['200 Acknowledged', 200, '{"state":"Acknowledged"}', { state: 'Acknowledged', all: true }],
  [
    '200 that names one of two',
    200,
    '{"state":"Acknowledged","members":[{"name":"a","state":"Acknowledged"},{"name":"b","state":"Working"}]}',
    { state: 'Acknowledged', all: false, names: ['a'] },
  ],
  [
    '200 Working',
    200,
    '{"state":"Working","expectedAt":"2026-11-18T10:00:00Z","message":"saving"}',
    { state: 'Working', message: 'saving, expected at 2026-11-18T10:00:00Z' },
  ],
  ['202 without a body', 202, '', { state: 'Working', message: undefined }],
  ['202 with any body', 202, 'later', { state: 'Working', message: undefined }],
  ['200 without a body', 200, '', { state: 'Malformed' }],
  ['200 with another state', 200, '{"state":"Done"}', { state: 'Malformed' }],
  ['200 with a list', 200, '["Acknowledged"]', { state: 'Malformed' }],
  [
    '200 with members that are none',
    200,
    '{"members":[null,3,{"name":4}]}',
    { state: 'Acknowledged', all: false, names: [] },
  ],
])('NT-11, NT-13: %s', (_name, status, body, wanted) => {
  expect(readNoticeResponse(status, body)).toEqual(wanted);
});

test('NT-11: failures are tried again after 1, 2, 4 and then 15 s', () => {
  expect([1, 2, 3, 4, 9].map(retryAfterMs)).toEqual([1000, 2000, 4000, 15_000, 15_000]);
});

/** What every protocol does around the handler. */
import type { ApiHandler, ApiRequest, ApiResponse } from '../exchange.ts';
import { errorResponse } from '../response/respond.ts';
import { badRequest, timeout } from '../status.ts';
import { timeLimitMs } from './time-limit.ts';

/** Opening a watch is quick like any request; only its stream lasts. */
export function withTimeout(handle: ApiHandler, request: ApiRequest): Promise<ApiResponse> {
  const limit = timeLimitMs(request.method, request.url);
  if (limit === undefined) {
    return Promise.resolve(
      errorResponse(badRequest('invalid timeout specified in the request URL: not a duration such as 30s')),
    );
  }
  return new Promise((resolve) => {
    const timer = setTimeout(
      () => resolve(errorResponse(timeout('request did not complete within the allotted time'))),
      limit,
    );
    void handle(request).then((response) => {
      clearTimeout(timer);
      resolve(response);
    });
  });
}

let dateText = '';
let dateSecond = 0;

export function httpDate(): string {
  const second = Math.floor(Date.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1000).toUTCString();
  }
  return dateText;
}

/** What becomes of anything that is thrown while a request is served, on whichever way it came. */
import type { Logger } from '../../machinery/runtime/index.ts';
import { FlushError, StoreClosedError } from '../../storage/index.ts';
import type { ApiRequest, ApiResponse } from '../exchange/exchange.ts';
import { errorResponse } from './respond.ts';
import { ApiError, failure, internalError, unavailable } from '../exchange/status.ts';

/** A refusal is answered as it is; everything else is a mistake of ours: logged with its request, and a 500. */
export function answerFailure(
  error: unknown,
  request: Pick<ApiRequest, 'method' | 'url'>,
  log: Logger,
  warnings: readonly string[] = [],
): ApiResponse {
  return errorResponse(toApiError(error, request, log), warnings);
}

function toApiError(error: unknown, { method, url }: Pick<ApiRequest, 'method' | 'url'>, log: Logger): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof StoreClosedError) return unavailable('the server is shutting down');
  // The store says once that writes fail: a line for every request would fill what is left of the disk.
  if (error instanceof FlushError) return failure(500, 'InternalError', `Internal error occurred: ${error.message}`);
  log.error({ err: error, method, path: url.split('?', 1)[0] }, 'request failed');
  return internalError(error instanceof Error ? error.message : 'something that is no error was thrown');
}

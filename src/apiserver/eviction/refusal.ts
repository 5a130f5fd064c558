import { type Refused, refusalStatus } from '../../decisions/refusal-status.ts';
import { type ApiError, failure } from '../exchange/status.ts';

/** The error that answers a refused request. */
export function refusalError(refused: Refused): ApiError {
  const { code, details, message, reason } = refusalStatus(refused);
  return failure(code, reason, message, details === undefined ? {} : { details });
}
